package loop

import (
	"net/netip"
	"sync"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/udp"
	"github.com/weirline/weirline/srtcore/wire"
)

// family is the sockets of one listening address, one a loop, with the
// connections accepted on them. It outlives its Listener until the last of
// these has ended, and another Listener may take it over: the port is bound all
// the while. The sockets go together, because the system spreads callers over
// them by their number.
type family struct {
	group *Group
	key   familyKey

	mu       sync.Mutex
	listener *Listener // nil: nobody listens
	conns    int       // accepted, or waiting for an answer
	sockets  []*socket
	open     int
	dead     bool // nobody needs it; its sockets are closing
	gone     chan struct{}
}

// familyKey is what must be equal for a Listener to take over a family.
type familyKey struct {
	bind   netip.AddrPort
	v6only int
}

// families is a Group's register of bound addresses.
type families struct {
	mu   sync.Mutex
	list map[familyKey]*family
}

func (f *family) used() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = f.dead || (f.listener == nil && f.conns == 0)
	return !f.dead
}

// join counts a connection in, leave out.
func (f *family) join() {
	f.mu.Lock()
	f.conns++
	f.mu.Unlock()
}

func (f *family) leave() {
	f.mu.Lock()
	f.conns--
	last := f.conns == 0 && f.listener == nil
	f.mu.Unlock()
	if last {
		f.rouse()
	}
}

// rouse makes every loop look whether the sockets are still needed.
func (f *family) rouse() {
	for _, s := range f.sockets {
		s.loop.mail.post(func() {})
	}
}

// closed counts the sockets out.
func (f *family) closed() {
	f.mu.Lock()
	f.open--
	last := f.open == 0
	f.mu.Unlock()
	if !last {
		return
	}
	reg := &f.group.families
	reg.mu.Lock()
	if reg.list[f.key] == f {
		delete(reg.list, f.key)
	}
	reg.mu.Unlock()
	close(f.gone)
}

func (f *family) request(s *socket, r *engine.Request) {
	f.mu.Lock()
	ln := f.listener
	f.mu.Unlock()
	if ln == nil {
		s.ep.Reject(s.loop.now, r, wire.RejClose)
		s.stirred = true
		return
	}
	ln.request(s, r)
}

// end ends the Listener, as a loop ends.
func (f *family) end() {
	f.mu.Lock()
	ln := f.listener
	f.listener = nil
	f.mu.Unlock()
	if ln != nil {
		ln.shut()
	}
}

// takeOver gives the family to ln if nobody listens on it.
func (f *family) takeOver(ln *Listener) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead || f.listener != nil {
		return false
	}
	f.listener = ln
	return true
}

// adopt looks for a family that is bound to key already; it waits for one that
// is closing.
func (g *Group) adopt(key familyKey, ln *Listener) *family {
	reg := &g.families
	reg.mu.Lock()
	f := reg.list[key]
	reg.mu.Unlock()
	if f == nil {
		return nil
	}
	if f.takeOver(ln) {
		return f
	}
	f.mu.Lock()
	dead := f.dead
	f.mu.Unlock()
	if dead {
		<-f.gone
	}
	return nil
}

// bindFamily binds one socket a loop, all to the same port.
func (g *Group) bindFamily(bind netip.AddrPort, cfg udp.Config, ln *Listener) (*family, error) {
	f := &family{group: g, listener: ln, gone: make(chan struct{})}
	if len(g.loops) > 1 {
		if !udp.Inherited(bind) {
			if err := probe(bind, cfg); err != nil {
				return nil, err
			}
		}
		cfg.ReusePort = true
	}
	for _, l := range g.loops {
		s, err := l.bindShard(SocketKey{bind, cfg}, f)
		if err != nil {
			f.abandon()
			return nil, err
		}
		bind = s.udp.LocalAddr()
	}
	f.key = familyKey{bind, cfg.V6Only}
	f.register()
	return f, nil
}

// probe binds alone first: with SO_REUSEPORT the system would let two listeners
// share a port and split the callers between them.
func probe(bind netip.AddrPort, cfg udp.Config) error {
	u, err := udp.Listen(bind, cfg)
	if err != nil {
		return err
	}
	return u.Close()
}

// bindShard opens the family's socket on l and waits for it.
func (l *Loop) bindShard(key SocketKey, f *family) (s *socket, err error) {
	done := make(chan struct{})
	posted := l.mail.post(func() {
		defer close(done)
		if l.quit {
			err = ErrClosed
			return
		}
		if s, err = l.open(key); err == nil {
			s.family = f
			f.add(s)
		}
	})
	if !posted {
		return nil, ErrClosed
	}
	<-done
	return s, err
}

func (f *family) add(s *socket) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sockets = append(f.sockets, s)
	f.open++
}

func (f *family) register() {
	reg := &f.group.families
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if reg.list == nil {
		reg.list = make(map[familyKey]*family)
	}
	reg.list[f.key] = f
}

// abandon gives up a family of which not all sockets could be bound.
func (f *family) abandon() {
	f.mu.Lock()
	f.listener = nil
	f.mu.Unlock()
	f.rouse()
}
