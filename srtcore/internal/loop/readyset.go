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
	ready   []*membership
	given   []*membership // handed out by the last Wait
	waiting bool
	wake    chan struct{}
}

// membership is a connection's place in a set. The set's lock guards it.
type membership struct {
	set   *ReadySet
	conn  *Conn
	ready bool // in the set's list, or handed out and not yet looked at again
	over  bool // taken out of the set
}

// NewReadySet returns an empty set.
func NewReadySet() *ReadySet { return &ReadySet{wake: make(chan struct{}, 1)} }

// Add puts c into the set, and takes it out of the one it was in.
func (r *ReadySet) Add(c *Conn) {
	m := &membership{set: r, conn: c}
	for {
		old := c.member.Load()
		if old != nil && old.set == r {
			return
		}
		if c.member.CompareAndSwap(old, m) {
			old.end()
			break
		}
	}
	if c.Readable() {
		m.mark()
		r.flush()
	}
}

// Remove takes c out of the set.
func (r *ReadySet) Remove(c *Conn) {
	m := c.member.Load()
	if m != nil && m.set == r && c.member.CompareAndSwap(m, nil) {
		m.end()
	}
}

// end takes m out of its set; a nil m is in none.
func (m *membership) end() {
	if m == nil {
		return
	}
	m.set.mu.Lock()
	m.over = true
	m.set.mu.Unlock()
}

// mark notes that there is something to read and reports whether that is news.
func (m *membership) mark() bool {
	r := m.set
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.ready || m.over {
		return false
	}
	m.ready = true
	r.ready = append(r.ready, m)
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
	r.again()
	for {
		out, ok := r.take(dst)
		if ok {
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

// again marks those that were handed out and still have something. They are
// unmarked first: what the loop adds from then on marks them itself.
func (r *ReadySet) again() {
	r.mu.Lock()
	for _, m := range r.given {
		m.ready = false
	}
	r.mu.Unlock()
	for i, m := range r.given {
		if m.conn.Readable() {
			m.mark()
		}
		r.given[i] = nil
	}
	r.given = r.given[:0]
}

func (r *ReadySet) take(dst []*Conn) ([]*Conn, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(dst)
	for i, m := range r.ready {
		if !m.over {
			dst = append(dst, m.conn)
			r.given = append(r.given, m)
		}
		r.ready[i] = nil
	}
	r.ready = r.ready[:0]
	r.waiting = len(dst) == n
	return dst, len(dst) > n
}

func (r *ReadySet) unwait() {
	r.mu.Lock()
	r.waiting = false
	r.mu.Unlock()
}
