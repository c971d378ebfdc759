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
	members int // that may yet have something to read
	ready   []*membership
	inside  bool // a Wait is under way
	waiting bool // and sleeps, or is about to
	bell    bell // nil: none needed so far

	// Wait's own.
	given []*membership   // handed out by the last Wait
	done  <-chan struct{} // of the context whose end rings the bell
	stop  func() bool     // ends that
}

// membership is a connection's place in a set. The set's lock guards it.
type membership struct {
	set   *ReadySet
	conn  *Conn
	ready bool // in the set's list, or handed out and not yet looked at again
	over  bool // taken out of the set
	lost  bool // closed by this side: not counted as a member any more
}

// NewReadySet returns an empty set.
func NewReadySet() *ReadySet { return new(ReadySet) }

// Add puts c into the set, and takes it out of the one it was in.
func (r *ReadySet) Add(c *Conn) {
	m := &membership{set: r, conn: c}
	for {
		old := c.member.Load()
		if old != nil && old.set == r {
			return
		}
		if c.member.CompareAndSwap(old, m) {
			r.join()
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

func (r *ReadySet) join() {
	r.mu.Lock()
	r.members++
	r.mu.Unlock()
}

// end takes m out of its set; a nil m is in none.
func (m *membership) end() {
	if m == nil {
		return
	}
	r := m.set
	r.mu.Lock()
	defer r.mu.Unlock()
	m.over = true
	m.lose()
}

// closed says that this side has closed the connection. It is still handed out,
// so that whoever waits may let go of it, but nothing is kept for its sake.
func (m *membership) closed() {
	if m == nil {
		return
	}
	m.set.mu.Lock()
	defer m.set.mu.Unlock()
	m.lose()
}

// lose takes m out of the count. The lock is held.
func (m *membership) lose() {
	if !m.lost {
		m.lost = true
		m.set.members--
		m.set.release()
	}
}

// release gives back what waiting needs when it is unlikely to be needed again:
// nobody waits and there is nothing to wait for. The lock is held.
func (r *ReadySet) release() {
	if r.inside || r.members > 0 || r.bell == nil {
		return
	}
	r.bell.close()
	r.bell = nil
	if r.stop != nil {
		r.stop()
	}
	r.done, r.stop = nil, nil
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
	if r.waiting {
		r.waiting = false
		r.bell.ring()
	}
}

// Wait appends the connections with something to read to dst. It blocks until
// there is one or ctx ends. One goroutine at a time may call it.
func (r *ReadySet) Wait(ctx context.Context, dst []*Conn) ([]*Conn, error) {
	b := r.enter()
	defer r.leave()
	r.watch(ctx)
	r.again()
	for {
		out, ok := r.take(dst)
		if ok {
			return out, nil
		}
		if err := ctx.Err(); err != nil {
			return dst, err
		}
		b.wait()
	}
}

// enter begins a Wait and returns the bell for it.
func (r *ReadySet) enter() bell {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside = true
	if r.bell == nil {
		r.bell = newBell()
	}
	return r.bell
}

func (r *ReadySet) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside, r.waiting = false, false
	r.release()
}

// watch makes the end of ctx ring the bell. Most callers wait with the same
// context all the time, so it is watched beyond the end of the Wait.
func (r *ReadySet) watch(ctx context.Context) {
	if ctx.Done() == r.done {
		return
	}
	if r.stop != nil {
		r.stop()
	}
	r.done, r.stop = ctx.Done(), context.AfterFunc(ctx, r.interrupt)
}

// interrupt wakes a Wait so that it looks at its context.
func (r *ReadySet) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bell != nil {
		r.bell.ring()
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
