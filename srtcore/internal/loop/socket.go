package loop

import (
	"crypto/rand"
	"fmt"
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

// SocketConfig is how a UDP socket is opened.
type SocketConfig = udp.Config

// SocketKey is what makes two callers share one UDP socket.
type SocketKey struct {
	Bind   netip.AddrPort
	Config SocketConfig
}

// socket is a UDP socket, the endpoint behind it, and what waits to be drained.
type socket struct {
	loop   *Loop
	udp    *udp.Socket
	ep     *engine.Endpoint
	key    SocketKey
	family *family // of a listener; nil: callers only
	conns  map[*Conn]struct{}

	touched []*Conn // to be drained
	spare   []*Conn
	stirred bool // the endpoint itself is to be drained
	due     deadline
	out     writer
}

// open binds a socket and puts it among the loop's.
func (l *Loop) open(key SocketKey) (*socket, error) {
	u, err := udp.Listen(key.Bind, key.Config)
	if err != nil {
		return nil, err
	}
	if err := l.poll.add(u); err != nil {
		_ = u.Close()
		return nil, fmt.Errorf("watch the socket: %w", err)
	}
	s := &socket{
		loop: l, udp: u, key: key,
		ep:    engine.NewEndpoint(engine.EndpointConfig{Rand: rand.Reader, Cache: l.cache}),
		conns: make(map[*Conn]struct{}),
	}
	s.due.sock = s
	s.out.send = u.WriteBatch
	l.sockets = append(l.sockets, s)
	if u.FD() < 0 {
		l.pumps.Go(func() { u.Pump(l.mail.pump) })
	}
	return s, nil
}

// callerSocket returns the socket that callers with this key share.
func (l *Loop) callerSocket(key SocketKey) (*socket, error) {
	if s := l.shared[key]; s != nil {
		return s, nil
	}
	s, err := l.open(key)
	if err == nil {
		l.shared[key] = s
	}
	return s, err
}

// used reports whether somebody still needs the socket.
func (s *socket) used() bool {
	return len(s.conns) > 0 || s.out.blocked() || (s.family != nil && s.family.used())
}

// closeUnused closes the sockets that nobody needs any more.
func (l *Loop) closeUnused() {
	for i := 0; i < len(l.sockets); i++ {
		s := l.sockets[i]
		if s.used() {
			continue
		}
		last := len(l.sockets) - 1
		l.sockets[i], l.sockets[last] = l.sockets[last], nil
		l.sockets = l.sockets[:last]
		i--
		l.close(s)
	}
}

func (l *Loop) close(s *socket) {
	if l.shared[s.key] == s {
		delete(l.shared, s.key)
	}
	l.due.remove(&s.due)
	l.poll.remove(s.udp)
	_ = s.udp.Close()
	if s.family != nil {
		s.family.closed()
	}
}

// expire lets time pass for the endpoint.
func (s *socket) expire() {
	s.ep.HandleTimeout(s.loop.now)
	s.stirred = true
}

// drain takes the output of what was touched, once each, writes it, and reports
// whether there is more.
func (s *socket) drain() (more bool) {
	s.out.retry(s)
	if len(s.touched) == 0 && !s.stirred {
		return false
	}
	work := s.touched
	s.touched = s.spare[:0]
	for i, c := range work {
		work[i] = nil
		c.touched = false
		c.drain()
		if s.out.batch.Len() >= writeBatch {
			s.out.flush(s)
		}
	}
	s.spare = work[:0]
	s.drainEndpoint()
	s.out.flush(s)
	return len(s.touched) > 0 || s.stirred
}

func (s *socket) drainEndpoint() {
	if !s.stirred {
		return
	}
	s.stirred = false
	s.ep.PollTransmit(s.loop.now, &s.out.batch)
	for {
		ev, ok := s.ep.PollEvent()
		if !ok {
			break
		}
		if ev.Kind == engine.EventRequest {
			s.request(ev.Request)
		}
	}
	s.loop.due.set(&s.due, s.ep.PollTimeout())
}

// request passes a caller to the listener.
func (s *socket) request(r *engine.Request) {
	if s.family != nil {
		s.family.request(s, r)
	}
}

// endAll ends every connection, and the listener, as the loop ends.
func (s *socket) endAll() {
	if s.family != nil {
		s.family.end()
	}
	for c := range s.conns {
		c.eng.Abort(s.loop.now)
		c.touch()
	}
}

// local returns the local address, with addr in place of the wildcard if known.
func (s *socket) local(addr netip.Addr) netip.AddrPort {
	bound := s.udp.LocalAddr()
	if addr.IsValid() {
		return netip.AddrPortFrom(addr, bound.Port())
	}
	return bound
}
