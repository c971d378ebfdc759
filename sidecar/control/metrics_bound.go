package control

import "sync"

// maxSeries bounds the connections with series of their own.
const maxSeries = 1000

// bound decides which connections have series of their own. Whoever got them
// keeps them, and whoever did not stays among the others for its life: so no
// counter goes down when somebody leaves. What left from among the others stays
// in their sums.
type bound struct {
	most int

	mu     sync.Mutex
	own    map[string]bool      // by connection id
	others map[string][]float64 // counters at the last scrape
	gone   []float64            // sums of those that left
}

func newBound(most int) *bound {
	return &bound{most: most, own: map[string]bool{}, others: map[string][]float64{}}
}

// admit takes the ids of all connections, with their counters, and returns
// which have series of their own, how many have not, and the sums of these.
func (b *bound) admit(ids []string, counters func(i int) []float64) (own []bool, others int, sums []float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(ids)
	own = make([]bool, len(ids))
	sums = append([]float64(nil), b.gone...)
	for i, id := range ids {
		_, other := b.others[id]
		if !other && (b.own[id] || len(b.own) < b.most) {
			b.own[id], own[i] = true, true
			continue
		}
		others++
		b.others[id] = counters(i)
		sums = add(sums, b.others[id])
	}
	return own, others, sums
}

// forget drops who has left.
func (b *bound) forget(ids []string) {
	here := make(map[string]bool, len(ids))
	for _, id := range ids {
		here[id] = true
	}
	for id := range b.own {
		if !here[id] {
			delete(b.own, id)
		}
	}
	for id, last := range b.others {
		if !here[id] {
			b.gone = add(b.gone, last)
			delete(b.others, id)
		}
	}
}

func add(sums, v []float64) []float64 {
	if sums == nil {
		sums = make([]float64, len(v))
	}
	for i := range v {
		sums[i] += v[i]
	}
	return sums
}
