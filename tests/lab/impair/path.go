package impair

import (
	"math/rand/v2"
	"time"
)

// path applies a Path to datagrams. It has no clock and no socket: the time is
// handed in and what passes goes into the queue.
type path struct {
	cfg   Path
	rng   *rand.Rand
	stats Stats
	seen  []int // by rule: datagrams of its kind so far

	bad     bool          // state of the Burst model
	free    time.Duration // when the shaped line is free again
	credit  float64       // bytes the policed line would take now
	filled  time.Duration // when credit was last counted
	lastDue time.Duration
	held    *item // waits for the next datagram, to come after it
}

// swapWait bounds how long a datagram waits for one to trade places with.
const swapWait = 20 * time.Millisecond

const defaultQueue = 64 << 10

func newPath(cfg Path, seed, stream uint64) *path {
	p := &path{cfg: cfg, rng: rand.New(rand.NewPCG(seed, stream)), seen: make([]int, len(cfg.Drop))}
	if cfg.Rate != nil {
		p.credit = float64(cfg.Rate.queue())
	}
	return p
}

func (r *Rate) queue() int {
	if r.Queue == 0 {
		return defaultQueue
	}
	return r.Queue
}

// take decides about one datagram that arrived now; fill says where to it goes.
func (p *path) take(now time.Duration, q *queue, data []byte, fill func(*item)) {
	p.stats.In++
	p.stats.InBytes += uint64(len(data))
	kind := Classify(data)
	p.stats.Kinds[kind]++
	if p.drops(kind, len(data)) {
		return
	}
	copies := 1
	if p.chance(p.cfg.Duplicate) {
		p.stats.Duplicated++
		copies = 2
	}
	for range copies {
		due, ok := p.line(now, len(data))
		if !ok {
			p.stats.OverRate++
			continue
		}
		it := q.get(data)
		fill(it)
		it.due = p.delay(due)
		p.enqueue(q, it)
	}
}

// chance throws the dice; no dice are thrown for a chance of nothing, so that
// switching one trouble on does not change the others.
func (p *path) chance(c float64) bool { return c > 0 && p.rng.Float64() < c }

func (p *path) drops(kind Kind, size int) bool {
	if p.cfg.MaxSize > 0 && size > p.cfg.MaxSize {
		p.stats.Oversize++
		return true
	}
	if p.ruled(kind) {
		p.stats.Ruled++
		return true
	}
	// Both are asked always: a burst goes on while single losses happen.
	burst, single := p.burst(), p.chance(p.cfg.Loss)
	if burst || single {
		p.stats.Lost++
		return true
	}
	return false
}

func (p *path) ruled(kind Kind) bool {
	drop := false
	for i, r := range p.cfg.Drop {
		if r.Kind != kind {
			continue
		}
		n := p.seen[i]
		p.seen[i]++
		drop = drop || n >= r.Skip && (r.Count == 0 || n < r.Skip+r.Count)
	}
	return drop
}

func (p *path) burst() bool {
	b := p.cfg.Burst
	if b == nil {
		return false
	}
	if p.bad {
		p.bad = !p.chance(b.ToGood)
	} else {
		p.bad = p.chance(b.ToBad)
	}
	if p.bad {
		return p.chance(b.LossBad)
	}
	return p.chance(b.LossGood)
}

// line returns when the datagram has left the bottleneck; false if it had no
// room there.
func (p *path) line(now time.Duration, size int) (time.Duration, bool) {
	r := p.cfg.Rate
	if r == nil {
		return now, true
	}
	if r.Police {
		p.credit = min(float64(r.queue()), p.credit+(now-p.filled).Seconds()*float64(r.Bits)/8)
		p.filled = now
		if p.credit < float64(size) {
			return 0, false
		}
		p.credit -= float64(size)
		return now, true
	}
	p.free = max(p.free, now)
	waiting := float64(r.Bits) / 8 * (p.free - now).Seconds()
	if int(waiting)+size > r.queue() {
		return 0, false
	}
	p.free += time.Duration(float64(size) * 8 / float64(r.Bits) * float64(time.Second))
	return p.free, true
}

func (p *path) delay(t time.Duration) time.Duration {
	t += p.cfg.Delay
	if p.cfg.Jitter > 0 {
		t += time.Duration(p.rng.Int64N(int64(p.cfg.Jitter)))
	}
	if p.cfg.InOrder {
		t = max(t, p.lastDue)
		p.lastDue = t
	}
	return t
}

// enqueue keeps the order or swaps the datagram with the one that follows.
func (p *path) enqueue(q *queue, it *item) {
	held := p.held
	p.held = nil
	switch {
	case held != nil && held.index >= 0: // still waiting: comes right after it
		q.add(it)
		q.move(held, it.due)
	case p.chance(p.cfg.Reorder):
		p.stats.Swapped++
		it.due += swapWait
		q.add(it)
		p.held = it
	default:
		q.add(it)
	}
}

// leaves books an item that is about to go out.
func (p *path) leaves(it *item) {
	if p.held == it {
		p.held = nil
	}
	p.stats.Out++
	p.stats.OutBytes += uint64(len(it.data))
}

// refused takes back what leaves booked: the socket did not take the item.
func (p *path) refused(it *item) {
	p.stats.WriteErrors++
	p.stats.Out--
	p.stats.OutBytes -= uint64(len(it.data))
}
