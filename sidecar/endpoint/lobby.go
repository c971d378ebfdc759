package endpoint

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/mpegts"
)

// lobby takes in who connects to a listening stream source. One at a time is
// read; the others wait, in the order in which they began to send. So a
// connection that sends nothing is nobody's turn, and an encoder that is started
// again finds its place free: its old connection has ended, or is silent and gives
// way. The rules:
//
//   - one that has sent less than a packet for a second while we were ready to
//     read gives way to one that sends;
//   - one whose first bytes are no transport stream gives way to one whose are.
type lobby struct {
	mu     sync.Mutex
	idle   []*guest // have sent nothing yet, oldest first
	ready  []*guest // have, in that order
	wake   chan struct{}
	inside *guest
	look   *time.Timer // looks again whether inside has fallen silent; nil: no need
	gone   error       // why nobody comes any more
}

const (
	// streamSilence is how long a writer may send nothing while another one waits.
	streamSilence = time.Second
	// greeting is how much is read of one that waits.
	greeting = 4 << 10
)

func newLobby() *lobby { return &lobby{wake: make(chan struct{}, 1)} }

// serve takes connections until the listener is closed. Those who are in stay.
func (l *lobby) serve(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err == nil {
			stayAlive(c)
			l.enter(&guest{Conn: c, lobby: l})
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		time.Sleep(100 * time.Millisecond) // no more descriptors, or the peer has left
	}
}

// enter lets a connection wait. If too many send nothing, the oldest of them goes.
func (l *lobby) enter(g *guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		g.Conn.Close()
		return
	}
	if len(l.idle) == mostWaiting {
		l.idle[0].Conn.Close()
		l.idle = slices.Delete(l.idle, 0, 1)
	}
	l.idle = append(l.idle, g)
	go g.greet()
}

// heard is called when a guest's first bytes, or its end, have come.
func (l *lobby) heard(g *guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.idle, g); i >= 0 {
		l.idle = slices.Delete(l.idle, i, i+1)
	} else {
		return // it had to go, and was closed
	}
	if len(g.first) == 0 || l.gone != nil || len(l.ready) == mostWaiting {
		g.Conn.Close()
		return
	}
	l.ready = append(l.ready, g)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	l.review()
}

// review has the one inside give way if it should, or looks again later.
func (l *lobby) review() {
	if l.inside == nil || len(l.ready) == 0 {
		return
	}
	if i := l.better(); i > 0 {
		l.ready[0], l.ready[i] = l.ready[i], l.ready[0]
	}
	if l.inside.silent(time.Now()) || l.inside.garbage() && l.ready[0].stream() {
		l.inside.giveWay()
		return
	}
	if l.look == nil {
		l.look = time.AfterFunc(streamSilence/4, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.look = nil
			l.review()
		})
	}
}

// better is who goes first if the one inside sends no transport stream.
func (l *lobby) better() int {
	if !l.inside.garbage() {
		return 0
	}
	return slices.IndexFunc(l.ready, (*guest).stream)
}

// next waits for the next one to read.
func (l *lobby) next(ctx context.Context) (*guest, error) {
	for {
		g, err := l.take()
		if g != nil || err != nil {
			return g, err
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *lobby) take() (*guest, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		return nil, l.gone
	}
	if len(l.ready) == 0 {
		return nil, nil
	}
	g := l.ready[0]
	l.ready = slices.Delete(l.ready, 0, 1)
	l.inside = g
	l.review()
	return g, nil
}

func (l *lobby) leave(g *guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inside == g {
		l.inside = nil
	}
}

// close turns away who waits.
func (l *lobby) close(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		return
	}
	l.gone = why
	for _, g := range append(l.idle, l.ready...) {
		g.Conn.Close()
	}
	l.idle, l.ready = nil, nil
	close(l.wake)
}

// errGaveWay is the end of a session whose place another one got.
var errGaveWay = errors.New("silent or no transport stream, and another one came that sends")

// guest is one connection: its first bytes are read ahead.
type guest struct {
	net.Conn
	lobby *lobby
	first []byte // not read by the session yet
	kind  firstBytes

	mu       sync.Mutex
	reading  time.Time     // since when a Read waits; zero: none does
	waited   time.Duration // how long Reads have waited since a packet's worth had come
	got      int           // bytes since then
	replaced bool
}

type firstBytes int

const (
	fewBytes firstBytes = iota // too few to tell
	someStream
	noStream
)

// greet waits for the first bytes.
func (g *guest) greet() {
	b := make([]byte, greeting)
	n, _ := g.Conn.Read(b)
	g.first = b[:n]
	switch {
	case mpegts.HasSync(g.first):
		g.kind = someStream
	case n > 2*mpegts.PacketSize:
		g.kind = noStream
	}
	g.lobby.heard(g)
}

func (g *guest) garbage() bool { return g.kind == noStream }
func (g *guest) stream() bool  { return g.kind == someStream }

// silent reports whether we have waited for it too long. A writer that we do not
// read from cannot send.
func (g *guest) silent(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.reading.IsZero() && g.waited+now.Sub(g.reading) >= streamSilence
}

func (g *guest) giveWay() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.replaced = true
	g.Conn.Close()
}

// Read implements io.Reader for the session.
func (g *guest) Read(b []byte) (int, error) {
	if len(g.first) > 0 {
		n := copy(b, g.first)
		g.first = g.first[n:]
		return n, nil
	}
	g.wait(time.Now())
	n, err := g.Conn.Read(b)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waited += time.Since(g.reading)
	g.reading = time.Time{}
	if g.got += n; g.got >= mpegts.PacketSize {
		g.got, g.waited = 0, 0
	}
	if err != nil && g.replaced {
		err = errGaveWay
	}
	return n, err
}

func (g *guest) wait(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reading = now
}

// Close implements io.Closer.
func (g *guest) Close() error {
	g.lobby.leave(g)
	return g.Conn.Close()
}
