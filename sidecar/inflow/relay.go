package inflow

import (
	"sync"
	"sync/atomic"
)

// relay wakes the connections that a tick has read for, one after another: each
// wakes the next when it waits again. Woken together, they would cost a second
// thread its sleep, and more than they are worth. One that is held up by its
// output keeps the others for a tick at most.
type relay struct {
	holder atomic.Pointer[Conn] // the one that is awake
	mu     sync.Mutex
	queue  []*Conn // those to wake, from at on
	at     int
}

// start wakes those that are left of the last tick, and the first of the new.
func (r *relay) start(conns []*Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.queue[r.at:] {
		c.wake()
	}
	clear(r.queue)
	r.queue, r.at = append(r.queue[:0], conns...), 0
	r.next()
}

// done says that c is about to wait.
func (r *relay) done(c *Conn) {
	if r.holder.Load() != c {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next()
}

func (r *relay) next() {
	for r.at < len(r.queue) {
		c := r.queue[r.at]
		r.at++
		r.holder.Store(c) // before it can be done
		if c.wake() {
			return
		}
	}
	r.holder.Store(nil)
}
