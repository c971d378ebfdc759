package ingest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// handover is how long a request waits for the port of one that is delivering
// its tail: an encoder that is restarted gets its port back.
const handover = 3 * time.Second

// ports are the SRT listener addresses that running requests hold.
type ports struct {
	mu   sync.Mutex
	held []*claim
}

// claim is one of them.
type claim struct {
	of         *ports
	host, port string
	ending     bool
	hurry      func() // ends it sooner; may be nil
	done       chan struct{}
}

// busyError is Judge's Busy, with a text that says who.
type busyError struct{ addr string }

func (e *busyError) Error() string {
	return fmt.Sprintf("port %s is already served by another request", e.addr)
}
func (e *busyError) Unwrap() error { return syscall.EADDRINUSE }

func (p *ports) claim(ctx context.Context, addr string) (*claim, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c := &claim{of: p, host: host, port: port, done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(ctx, handover)
	defer cancel()
	for {
		other := p.take(c)
		if other == nil {
			return c, nil
		}
		ending, hurry := other.isEnding()
		if !ending {
			return nil, &busyError{addr}
		}
		if hurry != nil {
			hurry()
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return nil, &busyError{addr}
		}
	}
}

// take holds c's address, or returns who does.
func (p *ports) take(c *claim) *claim {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range p.held {
		if other.port == c.port && c.port != "0" && (other.host == c.host || isAny(other.host) || isAny(c.host)) {
			return other
		}
	}
	p.held = append(p.held, c)
	return nil
}

func isAny(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }

func (c *claim) isEnding() (ending bool, hurry func()) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.ending, c.hurry
}

// end says that the source is over and the port will be free soon.
func (c *claim) end() {
	if c.of == nil {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.ending = true
}

// rest says that the source waits for more and would end for somebody who
// wants the port, or that it goes on.
func (c *claim) rest(on bool, hurry func()) {
	if c.of == nil {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.ending, c.hurry = on, hurry
}

// release gives the port back. A claim of nothing holds none.
func (c *claim) release() {
	if c.of == nil {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for i, other := range c.of.held {
		if other == c {
			c.of.held = append(c.of.held[:i], c.of.held[i+1:]...)
			break
		}
	}
	close(c.done)
}
