package srtcore

import (
	"context"

	"github.com/weirline/weirline/srtcore/internal/loop"
)

// Poller lets one goroutine read many connections, with one wake-up a tick
// instead of one a connection. It is level-triggered: a connection that was
// returned and not emptied (until TryReadBatch returns 0) is returned again. A
// connection that has ended keeps being returned until it is removed.
type Poller struct {
	set   *loop.ReadySet
	ready []*loop.Conn
}

// NewPoller returns a Poller without connections.
func NewPoller() *Poller { return &Poller{set: loop.NewReadySet()} }

// Add puts c under the Poller, and takes it from the one it was under.
func (p *Poller) Add(c *Conn) { p.set.Add(c.lc) }

// Remove takes c out; it may be called while another goroutine waits.
func (p *Poller) Remove(c *Conn) { p.set.Remove(c.lc) }

// Wait appends to dst the connections that have messages to read or an end to
// report, and waits until there is one or ctx ends. One goroutine at a time may
// call it.
func (p *Poller) Wait(ctx context.Context, dst []*Conn) ([]*Conn, error) {
	ready, err := p.set.Wait(ctx, p.ready[:0])
	for i, lc := range ready {
		if c, ok := lc.Owner.(*Conn); ok {
			dst = append(dst, c)
		}
		ready[i] = nil
	}
	p.ready = ready[:0]
	return dst, err
}
