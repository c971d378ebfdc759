package loop

import (
	"errors"
	"net/netip"
	"sync"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/udp"
	"github.com/weirline/weirline/srtcore/wire"
)

// RequestInfo is what is known of a caller before it is accepted.
type RequestInfo struct {
	Remote      netip.AddrPort
	Local       netip.AddrPort
	StreamID    string
	PeerVersion uint32
	Encrypted   bool
	PeerKeyLen  int
	// Check names what a caller that encrypts would be refused for with this
	// passphrase, or 0; it takes about a millisecond, once for a passphrase.
	Check func(passphrase string) wire.RejectReason
}

// ListenConfig is what Listen needs.
type ListenConfig struct {
	Bind    netip.AddrPort
	Socket  udp.Config
	Engine  *engine.Config
	Backlog int
	// Decide is asked about each caller, in a goroutine of its own. Nil accepts
	// everybody.
	Decide func(RequestInfo) Verdict
}

// Verdict is what the application says of a caller.
type Verdict struct {
	Config *engine.Config    // for this caller; nil: refused
	Reason wire.RejectReason // of the refusal
	// Refused, if set, is called in a goroutine of its own when a caller with a
	// Config does not become a connection after all.
	Refused func(wire.RejectReason)
}

// fail says that an accepted caller was refused after all.
func (v *Verdict) fail(reason wire.RejectReason) {
	if v.Refused != nil {
		Go(func() { v.Refused(reason) })
	}
}

// Listener is a queue of accepted connections.
type Listener struct {
	cfg    ListenConfig
	family *family

	mu      sync.Mutex
	queue   ring[*Conn]
	waiting int // callers to be decided about
	sig     signal
	closed  bool
}

// Listen binds the address and begins to listen.
func (g *Group) Listen(cfg ListenConfig) (*Listener, error) {
	cfg.Socket = g.adapt(cfg.Socket)
	cfg.Backlog = max(cfg.Backlog, 1)
	ln := &Listener{cfg: cfg, sig: newSignal()}
	f := g.adopt(familyKey{cfg.Bind, cfg.Socket.V6Only}, ln)
	if f == nil {
		var err error
		if f, err = g.bindFamily(cfg.Bind, cfg.Socket, ln); err != nil {
			return nil, err
		}
	}
	ln.family = f
	ln.onLoops(func(s *socket) { s.ep.Listen(cfg.Engine, cfg.Backlog) })
	return ln, nil
}

// onLoops runs f for every socket on its loop and waits.
func (ln *Listener) onLoops(f func(*socket)) {
	var wg sync.WaitGroup
	for _, s := range ln.family.sockets {
		wg.Add(1)
		if !s.loop.mail.post(func() { defer wg.Done(); f(s) }) {
			wg.Done()
		}
	}
	wg.Wait()
}

// Addr returns the bound address.
func (ln *Listener) Addr() netip.AddrPort { return ln.family.key.bind }

// Duplicate returns descriptors of the listening sockets for another process.
func (ln *Listener) Duplicate() (fds []int, err error) {
	var mu sync.Mutex
	ln.onLoops(func(s *socket) {
		fd, failed := s.udp.Duplicate()
		mu.Lock()
		defer mu.Unlock()
		if failed != nil {
			err = failed
			return
		}
		fds = append(fds, fd)
	})
	return fds, err
}

// Retire leaves callers to come to another process; who is in the middle of the
// handshake may finish it here.
func (ln *Listener) Retire() { ln.onLoops(func(s *socket) { s.ep.RetireListener() }) }

// Close stops listening. Connections that were accepted live on; those that
// nobody took with Accept are ended.
func (ln *Listener) Close() bool {
	queue, ok := ln.shut()
	if !ok {
		return false
	}
	for _, c := range queue {
		c.Abort()
	}
	f := ln.family
	f.mu.Lock()
	f.listener = nil
	f.mu.Unlock()
	ln.onLoops(func(s *socket) {
		s.ep.StopListening()
		s.stirred = true
		s.loop.closeUnused()
	})
	return true
}

func (ln *Listener) shut() (queue []*Conn, ok bool) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.closed {
		return nil, false
	}
	ln.closed = true
	for ln.queue.n > 0 {
		queue = append(queue, ln.queue.pop())
	}
	ln.sig.raise()
	return queue, true
}

// Accept takes a connection from the queue: ErrAgain if there is none, ErrClosed
// after Close. Connections that ended without a message are passed over.
func (ln *Listener) Accept() (*Conn, error) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	for ln.queue.n > 0 {
		c := ln.queue.pop()
		if c.over() {
			continue
		}
		if ln.queue.n > 0 {
			ln.sig.raise()
		}
		return c, nil
	}
	if ln.closed {
		ln.sig.raise()
		return nil, ErrClosed
	}
	return nil, ErrAgain
}

// over reports whether nothing can be had of c any more.
func (c *Conn) over() bool {
	select {
	case <-c.done:
		return c.in.queued.Load() == 0
	default:
		return false
	}
}

// Arm prepares to wait for the channel; false: Accept would not say ErrAgain.
// Disarm follows a wait.
func (ln *Listener) Arm() (<-chan struct{}, bool) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.queue.n > 0 || ln.closed {
		return ln.sig.ch, false
	}
	ln.sig.waiters++
	return ln.sig.ch, true
}

// Disarm ends what Arm began.
func (ln *Listener) Disarm() {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.sig.waiters--
	if ln.queue.n > 0 || ln.closed {
		ln.sig.raise()
	}
}

// admit counts a caller in if the backlog has room for it.
func (ln *Listener) admit() wire.RejectReason {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.closed {
		return wire.RejClose
	}
	if ln.waiting+ln.queue.n >= ln.cfg.Backlog && !ln.dropOver() {
		return wire.RejBacklog
	}
	ln.waiting++
	return 0
}

// dropOver takes connections that have ended out of the queue. The lock is held.
func (ln *Listener) dropOver() (any bool) {
	for range ln.queue.n {
		if c := ln.queue.pop(); !c.over() {
			ln.queue.push(c)
		} else {
			any = true
		}
	}
	return any
}

// request is a caller's wish to be accepted. It runs on the loop.
func (ln *Listener) request(s *socket, r *engine.Request) {
	if reason := ln.admit(); reason != 0 {
		s.reject(r, reason)
		return
	}
	ln.family.join()
	keyed := r.Encrypted && ln.cfg.Engine.Passphrase != ""
	if ln.cfg.Decide == nil && !keyed {
		ln.accept(s, r, &Verdict{Config: ln.cfg.Engine})
		return
	}
	info := RequestInfo{
		Remote: r.Peer, Local: s.local(r.Local), StreamID: r.StreamID,
		PeerVersion: r.PeerVersion, Encrypted: r.Encrypted, PeerKeyLen: r.PeerKeyLen, Check: r.Check,
	}
	Go(func() { ln.decide(s, r, info) })
}

// decide asks the application, derives the key, which takes about a millisecond
// that the loop must not lose, and brings the answer back to the loop.
func (ln *Listener) decide(s *socket, r *engine.Request, info RequestInfo) {
	v := Verdict{Config: ln.cfg.Engine}
	if ln.cfg.Decide != nil {
		v = ln.cfg.Decide(info)
	}
	if v.Config != nil && r.Encrypted {
		r.Prepare(v.Config.Passphrase) // nothing, if it was checked
	}
	s.loop.mail.post(func() {
		if v.Config == nil {
			ln.refuse(s, r, v.Reason)
			return
		}
		ln.accept(s, r, &v)
	})
}

func (ln *Listener) refuse(s *socket, r *engine.Request, reason wire.RejectReason) {
	ln.answered(nil)
	s.reject(r, reason)
	ln.family.leave()
}

func (s *socket) reject(r *engine.Request, reason wire.RejectReason) {
	s.ep.Reject(s.loop.now, r, reason)
	s.stirred = true
}

// accept makes the connection and queues it.
func (ln *Listener) accept(s *socket, r *engine.Request, v *Verdict) {
	if ln.isClosed() || s.loop.quit {
		ln.refuse(s, r, wire.RejClose)
		v.fail(wire.RejClose)
		return
	}
	s.stirred = true
	e, err := s.ep.Accept(s.loop.now, r, v.Config)
	if err != nil {
		ln.answered(nil)
		ln.family.leave()
		v.fail(reasonOf(err))
		return
	}
	c := newConn(s.loop, v.Config)
	c.family = ln.family
	c.bind(s, e)
	c.open()
	if !ln.answered(c) {
		c.abort()
		v.fail(wire.RejClose)
	}
}

// reasonOf is why the engine made no connection; an application that took too
// long finds the request timed out.
func reasonOf(err error) wire.RejectReason {
	if rej, ok := errors.AsType[*engine.RejectError](err); ok {
		return rej.Reason
	}
	return wire.RejTimeout
}

func (ln *Listener) isClosed() bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	return ln.closed
}

// answered counts a caller out, into the queue if it was accepted; false: the
// listener was closed meanwhile.
func (ln *Listener) answered(c *Conn) bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.waiting--
	if c == nil || ln.closed {
		return false
	}
	ln.queue.push(c)
	ln.sig.raise()
	return true
}
