package loop

import (
	"crypto/rand"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

// Config says how a Group works.
type Config struct {
	Shards       int           // 0: by the number of CPUs
	Tick         time.Duration // 0: DefaultTick
	NoGSO, NoGRO bool
	Portable     bool
}

// poolMax is the number of free Bufs that a Group keeps for the next burst.
const poolMax = 4096

// Group is a set of loops that share the work.
type Group struct {
	cfg      Config
	loops    []*Loop
	next     atomic.Uint32
	close    sync.Once
	families families
}

// DefaultShards is one loop below four CPUs, and one more for every four.
func DefaultShards() int {
	n := runtime.GOMAXPROCS(0)
	if n < 4 {
		return 1
	}
	return min(4, n/4+1)
}

// NewGroup starts the loops.
func NewGroup(cfg Config) (*Group, error) {
	if cfg.Shards <= 0 {
		cfg.Shards = DefaultShards()
	}
	if cfg.Tick <= 0 {
		cfg.Tick = DefaultTick
	}
	g := &Group{cfg: cfg}
	pool := dgram.NewPool(poolMax)
	for range cfg.Shards {
		l, err := newLoop(cfg, pool)
		if err != nil {
			g.Close()
			return nil, err
		}
		l.mail.wake = l.poll.wake
		g.loops = append(g.loops, l)
		Go(l.run)
	}
	return g, nil
}

// Close ends every connection and waits for the loops to end.
func (g *Group) Close() {
	g.close.Do(func() {
		for _, l := range g.loops {
			l.mail.post(func() { l.quit = true })
		}
	})
	for _, l := range g.loops {
		<-l.done
	}
}

// pick chooses a loop: in turn, but callers with one local port share a socket
// and so a loop.
func (g *Group) pick(bind netip.AddrPort) *Loop {
	n := uint32(len(g.loops))
	if bind.Port() != 0 {
		return g.loops[uint32(bind.Port())%n]
	}
	return g.loops[g.next.Add(1)%n]
}

// adapt adds the group's own switches to a socket's options.
func (g *Group) adapt(c udp.Config) udp.Config {
	c.NoGSO = c.NoGSO || g.cfg.NoGSO
	c.NoGRO = c.NoGRO || g.cfg.NoGRO
	c.Portable = c.Portable || g.cfg.Portable
	return c
}

// DialConfig is what Dial needs.
type DialConfig struct {
	Peer   netip.AddrPort
	Engine *engine.Config
	Socket SocketKey
	Owner  any
	// News gets a token when Established or Done is closed; it has room for one.
	News chan<- struct{}
}

// Dial begins a connection and returns at once; Established or Done of the Conn
// say how it went.
func (g *Group) Dial(cfg DialConfig) (*Conn, error) {
	cfg.Socket.Config = g.adapt(cfg.Socket.Config)
	if e := cfg.Engine; e.Passphrase != "" {
		s, err := engine.NewSecret(rand.Reader, e.Passphrase, e.PBKeyLen)
		if err != nil {
			return nil, err
		}
		e.Secret = s
	}
	l := g.pick(cfg.Socket.Bind)
	c := newConn(l, cfg.Engine)
	c.Owner, c.news = cfg.Owner, cfg.News
	if !l.mail.post(func() { l.dial(c, &cfg) }) {
		return nil, ErrClosed
	}
	return c, nil
}

func (l *Loop) dial(c *Conn, cfg *DialConfig) {
	if l.quit {
		c.fail(ErrClosed)
		return
	}
	s, err := l.callerSocket(cfg.Socket)
	if err != nil {
		c.fail(err)
		return
	}
	c.bind(s, s.ep.Dial(l.now, cfg.Engine, cfg.Peer))
}
