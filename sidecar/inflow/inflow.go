// Package inflow reads many TCP connections of local writers with few
// wake-ups. An encoder writes in small pieces, and a reader that sleeps pays for
// every piece with a wake-up of its own: that costs more than the bytes. While
// pieces come densely, one goroutine therefore looks at all connections on a
// common tick and reads what is there; while they do not, each connection is
// read as any other. What a read brings is dated by the kernel, so that the wait
// for the tick is no delay of the media.
//
// Lives here: Listener, Conn, Reader (the tick), the rule when to tick.
// May import: net, x/sys. Never: net/http, srtcore, any other room of the
// sidecar.
package inflow

import (
	"net"
	"slices"
	"sync"
	"time"
)

// Tick is how often the connections are looked at while data comes densely.
const Tick = 4 * time.Millisecond

// Reader reads all the connections that are given to it. The zero Reader is
// ready.
type Reader struct {
	mu      sync.Mutex
	dense   density
	ticking bool
	conns   []*Conn // those that are read on the tick
}

// Listener makes the connections that ln accepts Conns.
func (r *Reader) Listener(ln net.Listener) net.Listener { return listener{ln, r} }

type listener struct {
	net.Listener
	r *Reader
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.r.conn(c), nil
}

// conn returns c itself if it is of a kind that cannot be read on the tick.
func (r *Reader) conn(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	s, ok := newSocket(tcp)
	if !ok {
		return c
	}
	return &Conn{TCPConn: tcp, r: r, s: s}
}

// arrived counts a piece that a sleeping read brought and reports whether the
// pieces come densely enough for ticks.
func (r *Reader) arrived(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ticking || r.dense.arrived(now)
}

// join has c read on the tick from now on; the first starts it.
func (r *Reader) join(c *Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ticking {
		t, err := newTimer()
		if err != nil {
			c.leave() // as any other connection, then
			return
		}
		r.ticking = true
		r.dense = density{}
		go r.run(t)
	}
	if !slices.Contains(r.conns, c) {
		r.conns = append(r.conns, c)
	}
}

// run ticks until data comes no longer densely, or no connection is left.
func (r *Reader) run(t *timer) {
	defer t.close()
	for next := time.Now().Add(Tick); ; {
		now := t.wait(next)
		if !r.turn(now) {
			return
		}
		if next = next.Add(Tick); next.Before(now) {
			next = now.Add(Tick)
		}
	}
}

// turn looks at all connections; false: it was the last.
func (r *Reader) turn(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	some := false
	kept := r.conns[:0]
	for _, c := range r.conns {
		came, stays := c.look(now)
		some = some || came
		if stays {
			kept = append(kept, c)
		}
	}
	clear(r.conns[len(kept):])
	r.conns = kept
	if r.dense.ticked(some) && len(kept) > 0 {
		return true
	}
	for _, c := range kept {
		c.leave()
	}
	r.conns, r.ticking, r.dense = nil, false, density{}
	return false
}
