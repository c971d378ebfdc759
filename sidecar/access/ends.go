package access

import (
	"context"
	"fmt"
	"net"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/endpoint"
)

// end is a stream of a Port, one way. Port.mu guards the fields below the line.
type end struct {
	port *Port
	ref  config.Ref
	mode mode
	bell chan struct{} // somebody has come
	gone chan struct{} // closed by Close

	closed bool
	most   int      // callers at a time; 0: any number
	ready  []*visit // connected, not yet taken by the route
	owner  *visit   // the last publisher
	claim  *guest   // who is about to become it
}

// visit is a caller's connection.
type visit struct {
	conn     *srtcore.Conn
	who      who
	src      *endpoint.SRTSource // once the route has it
	replaced bool
}

func (v *visit) over() bool {
	select {
	case <-v.conn.Done():
		return true
	default:
		return false
	}
}

// who is what a session tells of its caller.
type who struct{ streamID, user string }

// StreamID is what the caller gave, without what may be secret in it.
func (w who) StreamID() string { return w.streamID }

// User is the name in it; empty: none.
func (w who) User() string { return w.user }

type publisher struct {
	*endpoint.SRTSource
	who
}

type player struct {
	*endpoint.SRTSink
	who
}

func newEnd(p *Port, ref config.Ref, m mode) *end {
	return &end{port: p, ref: ref, mode: m, bell: make(chan struct{}, 1), gone: make(chan struct{})}
}

// URL is what a caller calls.
func (e *end) URL() string {
	m := "request"
	if e.mode == modePublish {
		m = "publish"
	}
	return fmt.Sprintf("srt://%s?streamid=#!::r=%s,m=%s", e.port.target.Addr, e.ref.Stream, m)
}

// Traits implements endpoint.End.
func (e *end) Traits() endpoint.Traits { return endpoint.Traits{Listens: true, Again: true} }

// Close withdraws the stream: its callers are refused from now on. Sessions that
// a route has taken are the route's to end.
func (e *end) Close() error {
	p := e.port
	p.mu.Lock()
	if e.closed {
		p.mu.Unlock()
		return nil
	}
	e.closed = true
	close(e.gone)
	left := e.ready
	e.ready, e.owner, e.claim = nil, nil, nil
	if s := p.streams[e.ref.Stream]; s != nil {
		if *s.place(e.mode) = nil; s.publish == nil && s.play == nil {
			delete(p.streams, e.ref.Stream)
		}
	}
	p.mu.Unlock()
	for _, v := range left {
		_ = v.conn.Abort()
	}
	return nil
}

// seat leads a new connection to its stream.
func (p *Port) seat(c *srtcore.Conn) {
	turnedAway := p.place(c)
	for _, v := range turnedAway {
		if v.src != nil {
			v.src.Replace()
		} else {
			_ = v.conn.Abort()
		}
	}
}

// place queues the connection and returns those that have to go for it.
func (p *Port) place(c *srtcore.Conn) (out []*visit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &visit{conn: c}
	g := p.arrived(c)
	if g == nil || g.end.closed {
		if g != nil {
			p.strike(g)
		}
		return []*visit{v}
	}
	v.who = who{shownID(g.id), g.user}
	g.state, g.done = seated, c.Done()
	p.accepted++
	e := g.end
	if e.mode == modePublish {
		out = e.succeed(v)
	}
	e.ready = append(e.ready, v)
	e.ring()
	p.log.Debug("caller accepted", "peer", g.from.String(), "stream", shownName(g.stream), "mode", g.mode.String(), "user", shownName(g.user))
	return out
}

// arrived returns the guest whose connection c is. Callers that share an address
// and a stream id are alike.
func (p *Port) arrived(c *srtcore.Conn) *guest {
	from, id := unmapped(c.RemoteAddr()), c.StreamID()
	for g := range p.guests {
		if g.state == expected && g.from == from && g.id == id {
			return g
		}
	}
	return nil
}

// succeed makes v the publisher and returns whom he replaces. The lock is held.
func (e *end) succeed(v *visit) (out []*visit) {
	e.claim = nil
	if o := e.owner; o != nil && !o.over() {
		o.replaced = true
		out = append(out, o)
	}
	e.owner = v
	for len(e.ready) >= mostReadyPublish {
		out = append(out, e.ready[0])
		e.ready = e.ready[1:]
	}
	return out
}

func (e *end) ring() {
	select {
	case e.bell <- struct{}{}:
	default:
	}
}

// next waits for the next caller. A player that has left already is passed over;
// of a publisher that has, what he sent can still be read.
func (e *end) next(ctx context.Context) (*visit, error) {
	for {
		if v := e.pop(); v != nil {
			return v, nil
		}
		select {
		case <-e.bell:
		case <-e.gone:
			return nil, fmt.Errorf("stream %q: %w", e.ref.Stream, net.ErrClosed)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (e *end) pop() *visit {
	e.port.mu.Lock()
	defer e.port.mu.Unlock()
	for len(e.ready) > 0 {
		v := e.ready[0]
		e.ready = e.ready[1:]
		if e.mode == modePlay && v.over() || v.replaced {
			continue
		}
		if e.mode == modePublish {
			v.src = endpoint.NewSRTSource(v.conn)
		}
		if len(e.ready) > 0 {
			e.ring()
		}
		return v
	}
	if e.owner != nil && e.owner.over() {
		e.owner = nil
	}
	return nil
}

// publishEnd is the source of a route.
type publishEnd struct{ *end }

// OpenSource implements endpoint.SourceEnd: it waits for the next publisher.
func (e publishEnd) OpenSource(ctx context.Context) (endpoint.Source, error) {
	v, err := e.next(ctx)
	if err != nil {
		return nil, err
	}
	return publisher{v.src, v.who}, nil
}

// playEnd is an output of a route.
type playEnd struct{ *end }

// AtMost bounds the players at a time, so that one too many is told in the
// handshake; 0: any number.
func (e playEnd) AtMost(n int) {
	e.port.mu.Lock()
	defer e.port.mu.Unlock()
	e.most = n
}

// OpenSink implements endpoint.SinkEnd: it waits for the next player.
func (e playEnd) OpenSink(ctx context.Context) (endpoint.Sink, error) {
	v, err := e.next(ctx)
	if err != nil {
		return nil, err
	}
	return player{endpoint.NewSRTSink(v.conn), v.who}, nil
}
