package impair

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Relay is a running relay. One goroutine sends what is due; one more reads each
// socket: that of the callers, and one towards the Target for each caller.
type Relay struct {
	cfg    Config
	front  *net.UDPConn
	target netip.AddrPort
	start  time.Time
	wake   chan struct{}
	done   chan struct{}
	wg     sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	q        queue
	up, down *path
	sessions map[netip.AddrPort]*session
	moved    bool
}

// session is one caller and the socket that stands for it at the Target.
type session struct {
	caller netip.AddrPort
	back   *net.UDPConn
}

// Start starts a relay.
func Start(cfg Config) (*Relay, error) {
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	target, err := net.ResolveUDPAddr("udp", cfg.Target)
	if err != nil {
		return nil, fmt.Errorf("impair: target: %w", err)
	}
	laddr, err := net.ResolveUDPAddr("udp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("impair: listen: %w", err)
	}
	front, err := net.ListenUDP("udp", laddr)
	if err != nil {
		return nil, fmt.Errorf("impair: %w", err)
	}
	setBuffers(front)
	r := &Relay{
		cfg: cfg, front: front, target: unmap(target.AddrPort()), start: time.Now(),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		up: newPath(cfg.Up, cfg.Seed, 1), down: newPath(cfg.Down, cfg.Seed, 2),
		sessions: map[netip.AddrPort]*session{},
	}
	r.wg.Go(r.readCallers)
	r.wg.Go(r.deliver)
	return r, nil
}

// Addr is the address callers send to.
func (r *Relay) Addr() string { return r.front.LocalAddr().String() }

// Port is the port of Addr.
func (r *Relay) Port() int { return r.front.LocalAddr().(*net.UDPAddr).Port }

// Stats returns the counters of both directions.
func (r *Relay) Stats() (up, down Stats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	up, down = r.up.stats, r.down.stats
	up.Clients, down.Clients = uint64(len(r.sessions)), uint64(len(r.sessions))
	return up, down
}

// Close ends the relay; datagrams under way are lost.
func (r *Relay) Close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.done)
		r.front.Close()
		for _, s := range r.sessions {
			s.back.Close()
		}
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// setBuffers asks for room for a burst; the system gives what it allows.
func setBuffers(c *net.UDPConn) {
	_ = c.SetReadBuffer(4 << 20)
	_ = c.SetWriteBuffer(4 << 20)
}

func unmap(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

func (r *Relay) now() time.Duration { return time.Since(r.start) }

func (r *Relay) readCallers() {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := r.front.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an ICMP error of an earlier datagram
		}
		r.fromCaller(unmap(from), buf[:n])
	}
}

func (r *Relay) fromCaller(from netip.AddrPort, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.session(from)
	if s == nil {
		return
	}
	r.movePort()
	r.enqueue(r.up, data, func(it *item) { it.sess, it.up, it.to = s, true, r.target })
}

func (r *Relay) readTarget(s *session, back *net.UDPConn) {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := back.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || unmap(from) != r.target {
			continue
		}
		r.mu.Lock()
		r.enqueue(r.down, buf[:n], func(it *item) { it.sess, it.to = s, s.caller })
		r.mu.Unlock()
	}
}

// enqueue hands a datagram to its path and wakes the sender if there is a new
// earliest one.
func (r *Relay) enqueue(p *path, data []byte, fill func(*item)) {
	before := r.q.head()
	p.take(r.now(), &r.q, data, fill)
	if r.q.head() != before {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// session finds or makes the session of a caller; nil while closing.
func (r *Relay) session(from netip.AddrPort) *session {
	if s := r.sessions[from]; s != nil || r.closed {
		return s
	}
	back, err := r.openBack()
	if err != nil {
		return nil
	}
	s := &session{caller: from, back: back}
	r.sessions[from] = s
	r.wg.Go(func() { r.readTarget(s, back) })
	return s
}

// openBack opens a socket that is not connected: an ICMP error must not end it.
func (r *Relay) openBack() (*net.UDPConn, error) {
	var host net.IP // the route decides
	if r.target.Addr().IsLoopback() {
		host = r.target.Addr().AsSlice() // and nobody else may answer
		if r.target.Addr().Is4() {
			host = net.IPv4(127, 0, 0, 1)
		}
	}
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: host})
	if err == nil {
		setBuffers(c)
	}
	return c, err
}

// movePort gives every session a new source port once, when its time has come.
func (r *Relay) movePort() {
	if r.moved || r.cfg.MovePortAfter <= 0 || r.now() < r.cfg.MovePortAfter || r.closed {
		return
	}
	r.moved = true
	for _, s := range r.sessions {
		back, err := r.openBack()
		if err != nil {
			continue
		}
		s.back.Close()
		s.back = back
		r.wg.Go(func() { r.readTarget(s, back) })
	}
}

// deliver sends every datagram when it is due.
func (r *Relay) deliver() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var due []*item
	for {
		due = r.send(due[:0])
		timer.Reset(r.untilNext())
		select {
		case <-r.done:
			return
		case <-r.wake:
		case <-timer.C:
		}
	}
}

func (r *Relay) untilNext() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	it := r.q.head()
	if it == nil {
		return time.Hour
	}
	return max(0, it.due-r.now())
}

// send writes what is due; the lock is open while the system is at work.
func (r *Relay) send(due []*item) []*item {
	r.mu.Lock()
	defer r.mu.Unlock()
	due = r.q.popDue(r.now(), due)
	for _, it := range due {
		sock, p := r.front, r.down
		if it.up {
			sock, p = it.sess.back, r.up
		}
		p.leaves(it)
		r.mu.Unlock()
		_, err := sock.WriteToUDPAddrPort(it.data, it.to)
		r.mu.Lock()
		if err != nil {
			p.refused(it)
		}
		r.q.put(it)
	}
	return due
}
