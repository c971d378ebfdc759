package loop

import (
	"context"
	"sync"
)

// ReadySet collects the connections that have something to read, so that one
// goroutine can serve many with one wake-up a tick. It is level-triggered: a
// connection that was handed out and not emptied is handed out again.
type ReadySet struct {
	mu      sync.Mutex
	members map[*Conn]*membership
	ready   []*Conn
	given   []*Conn // handed out by the last Wait
	waiting bool
	wake    chan struct{}
}

// membership is a connection's state in its set.
type membership struct{ ready bool }

// NewReadySet returns an empty set.
func NewReadySet() *ReadySet {
	return &ReadySet{members: make(map[*Conn]*membership), wake: make(chan struct{}, 1)}
}

// Add puts c into the set, and takes it out of the one it was in.
func (r *ReadySet) Add(c *Conn) {
	if old := c.set.Swap(r); old == r {
		return
	} else if old != nil {
		old.forget(c)
	}
	r.mu.Lock()
	r.members[c] = new(membership)
	r.mu.Unlock()
	if c.Readable() {
		r.mark(c)
		r.flush()
	}
}

// Remove takes c out of the set.
func (r *ReadySet) Remove(c *Conn) {
	if c.set.CompareAndSwap(r, nil) {
		r.forget(c)
	}
}

func (r *ReadySet) forget(c *Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.members, c)
}

// mark notes that c has something to read and reports whether that is news.
func (r *ReadySet) mark(c *Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[c]
	if m == nil || m.ready {
		return false
	}
	m.ready = true
	r.ready = append(r.ready, c)
	return true
}

// flush wakes whoever waits, after all of a tick have been marked.
func (r *ReadySet) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.waiting {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Wait appends the connections with something to read to dst. It blocks until
// there is one or ctx ends. One goroutine at a time may call it.
func (r *ReadySet) Wait(ctx context.Context, dst []*Conn) ([]*Conn, error) {
	for {
		r.again()
		if out, ok := r.take(dst); ok {
			return out, nil
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			r.unwait()
			return dst, ctx.Err()
		}
	}
}

// again marks those that were handed out and still have something.
func (r *ReadySet) again() {
	for i, c := range r.given {
		if r.unmark(c) && c.Readable() {
			r.mark(c)
		}
		r.given[i] = nil
	}
	r.given = r.given[:0]
}

// unmark lets the loop mark c again.
func (r *ReadySet) unmark(c *Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[c]
	if m == nil {
		return false
	}
	m.ready = false
	return true
}

func (r *ReadySet) take(dst []*Conn) ([]*Conn, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(dst)
	for i, c := range r.ready {
		if r.members[c] != nil {
			dst = append(dst, c)
		}
		r.ready[i] = nil
	}
	r.ready = r.ready[:0]
	r.given = append(r.given, dst[n:]...)
	r.waiting = len(dst) == n
	return dst, len(dst) > n
}

func (r *ReadySet) unwait() {
	r.mu.Lock()
	r.waiting = false
	r.mu.Unlock()
}
