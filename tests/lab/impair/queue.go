package impair

import (
	"container/heap"
	"net/netip"
	"time"
)

// item is one datagram on its way. Times count from the start of the relay.
type item struct {
	due   time.Duration
	order uint64 // breaks ties, so that equal times keep their order
	data  []byte
	sess  *session
	up    bool
	to    netip.AddrPort
	index int // in the heap; -1 when not there
}

// queue holds the datagrams under way, the next one due first.
type queue struct {
	items []*item
	count uint64
	spare []*item
}

// get returns an item with a copy of data in it.
func (q *queue) get(data []byte) *item {
	it := &item{index: -1}
	if n := len(q.spare); n > 0 {
		it, q.spare = q.spare[n-1], q.spare[:n-1]
	}
	it.data = append(it.data[:0], data...)
	return it
}

// put takes an item back for later use.
func (q *queue) put(it *item) {
	*it = item{data: it.data, index: -1}
	q.spare = append(q.spare, it)
}

func (q *queue) add(it *item) {
	it.order = q.count
	q.count++
	heap.Push(q, it)
}

// move changes when a waiting item is due; it then comes after all others of
// that time.
func (q *queue) move(it *item, due time.Duration) {
	it.due, it.order = due, q.count
	q.count++
	heap.Fix(q, it.index)
}

// head returns the next item; nil if none is waiting.
func (q *queue) head() *item {
	if len(q.items) == 0 {
		return nil
	}
	return q.items[0]
}

// popDue appends the items that are due to dst, in order.
func (q *queue) popDue(now time.Duration, dst []*item) []*item {
	for it := q.head(); it != nil && it.due <= now; it = q.head() {
		heap.Pop(q)
		dst = append(dst, it)
	}
	return dst
}

func (q *queue) Len() int { return len(q.items) }

func (q *queue) Less(i, j int) bool {
	a, b := q.items[i], q.items[j]
	if a.due != b.due {
		return a.due < b.due
	}
	return a.order < b.order
}

func (q *queue) Swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	q.items[i].index, q.items[j].index = i, j
}

func (q *queue) Push(x any) {
	it := x.(*item)
	it.index = len(q.items)
	q.items = append(q.items, it)
}

func (q *queue) Pop() any {
	n := len(q.items) - 1
	it := q.items[n]
	q.items[n] = nil
	q.items = q.items[:n]
	it.index = -1
	return it
}
