package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"sort"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// start is the virtual time a World begins at: not zero, so that a forgotten
// instant shows.
const start mono.Time = 1_000_000_000_000

// node is what stands at an address: a Host or a Peer.
type node interface {
	deliver(now mono.Time, from netip.AddrPort, to netip.AddrPort, data []byte)
	timeout(now mono.Time)
	drain(now mono.Time)
	next() mono.Time
}

// World is virtual time and everything that happens in it. It belongs to one
// test.
type World struct {
	TB   testing.TB
	Seed uint64
	Now  mono.Time
	// Tick rounds every wake-up of the hosts up to a multiple: the loop's
	// clock. Zero wakes exactly on time.
	Tick time.Duration
	// MaxSteps and MaxTime bound the run.
	MaxSteps int
	MaxTime  time.Duration

	rnd    *rand.Rand
	nodes  []node
	at     map[netip.AddrPort]node
	links  map[path]*Link
	order  []path
	script []action
	pool   *bufPool
	steps  int
	stuck  int
}

type path struct{ from, to netip.AddrPort }

type action struct {
	at mono.Time
	do func()
}

// NewWorld returns an empty World; everything random in it follows from seed.
func NewWorld(tb testing.TB, seed uint64) *World {
	w := &World{
		TB: tb, Seed: seed, Now: start, MaxSteps: 3_000_000, MaxTime: 20 * time.Minute,
		rnd: rand.New(rand.NewPCG(seed, 0x5eed)),
		at:  make(map[netip.AddrPort]node), links: make(map[path]*Link),
		pool: newBufPool(),
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("replay with: -run '^%s$' -sim.seed=%d", tb.Name(), seed)
		}
	})
	return w
}

// Rand returns a generator of its own for a test's choices.
func (w *World) Rand() *rand.Rand { return rand.New(rand.NewPCG(w.Seed, w.rnd.Uint64())) }

// entropy is a stream of random bytes for an Endpoint.
func (w *World) entropy() *rand.ChaCha8 {
	var key [32]byte
	for i := 0; i < len(key); i += 8 {
		binary.LittleEndian.PutUint64(key[i:], w.rnd.Uint64())
	}
	return rand.NewChaCha8(key)
}

// Since returns the virtual time since the beginning.
func (w *World) Since() time.Duration { return w.Now.Sub(start) }

// Link returns the link from one address to another; a new one is perfect.
func (w *World) Link(from, to netip.AddrPort) *Link {
	p := path{from, to}
	l := w.links[p]
	if l == nil {
		l = newLink(LinkConfig{}, rand.New(rand.NewPCG(w.Seed, w.rnd.Uint64())))
		w.links[p] = l
		w.order = append(w.order, p)
	}
	return l
}

// After runs do at d from now, once.
func (w *World) After(d time.Duration, do func()) {
	a := action{w.Now.Add(d), do}
	i := sort.Search(len(w.script), func(i int) bool { return w.script[i].at > a.at })
	w.script = append(w.script, action{})
	copy(w.script[i+1:], w.script[i:])
	w.script[i] = a
}

// Every runs do n times, the first time at first from now.
func (w *World) Every(first, interval time.Duration, n int, do func(i int)) {
	var step func(i int)
	step = func(i int) {
		do(i)
		if i+1 < n {
			w.After(interval, func() { step(i + 1) })
		}
	}
	if n > 0 {
		w.After(first, func() { step(0) })
	}
}

func (w *World) add(n node, addr netip.AddrPort) {
	w.nodes = append(w.nodes, n)
	w.at[addr] = n
}

func (w *World) send(b *dgram.Batch, from netip.AddrPort) {
	for _, o := range b.Control {
		w.Link(from, o.To).send(w.Now, o.Data)
	}
	for _, o := range b.Data {
		w.Link(from, o.To).send(w.Now, o.Data)
	}
	b.Reset()
}

// next returns the time of the next event, Never if there is none.
func (w *World) next() mono.Time {
	at := mono.Never
	for _, n := range w.nodes {
		at = mono.Min(at, n.next())
	}
	for _, p := range w.order {
		at = mono.Min(at, w.links[p].next())
	}
	if q := mono.Time(w.Tick); q > 0 && at != mono.Never {
		at = (at + q - 1) / q * q
	}
	if len(w.script) > 0 {
		at = mono.Min(at, w.script[0].at)
	}
	return at
}

// Step jumps to the next event and lets everything due at it happen; false if
// nothing will ever happen again.
func (w *World) Step() bool {
	at := w.next()
	if at == mono.Never {
		return false
	}
	w.advance(at)
	w.runScript()
	w.deliver()
	for _, n := range w.nodes {
		n.timeout(w.Now)
	}
	w.Drain()
	return true
}

// Drain takes all output of all nodes, so that a command given between steps
// takes effect.
func (w *World) Drain() {
	for _, n := range w.nodes {
		n.drain(w.Now)
	}
}

// advance moves the clock, and stops a run that does not end by itself.
func (w *World) advance(at mono.Time) {
	w.TB.Helper()
	if at > w.Now {
		w.Now, w.stuck = at, 0
	} else if w.stuck++; w.stuck > 1000 {
		w.TB.Fatalf("time stands still at %v: a deadline is not after the drain (seed %d)", w.Since(), w.Seed)
	}
	if w.steps++; w.steps > w.MaxSteps {
		w.TB.Fatalf("no end after %d steps, at %v (seed %d)", w.steps, w.Since(), w.Seed)
	}
	if w.Since() > w.MaxTime {
		w.TB.Fatalf("no end after %v (seed %d)", w.Since(), w.Seed)
	}
}

func (w *World) runScript() {
	for len(w.script) > 0 && w.script[0].at <= w.Now {
		do := w.script[0].do
		w.script = w.script[1:]
		do()
	}
}

func (w *World) deliver() {
	for i := 0; i < len(w.order); i++ {
		p := w.order[i]
		l := w.links[p]
		for data := l.receive(w.Now); data != nil; data = l.receive(w.Now) {
			if n := w.at[p.to]; n != nil {
				n.deliver(w.Now, p.from, p.to, data)
			}
		}
	}
}

// RunFor lets d pass.
func (w *World) RunFor(d time.Duration) {
	w.TB.Helper()
	end := w.Now.Add(d)
	w.Drain()
	for w.next() <= end {
		w.Step()
	}
	w.Now = end
}

// RunUntil runs until done, at most for limit; it reports whether it was done.
func (w *World) RunUntil(limit time.Duration, done func() bool) bool {
	w.TB.Helper()
	end := w.Now.Add(limit)
	w.Drain()
	for !done() {
		if w.next() > end {
			w.Now = end
			return done()
		}
		w.Step()
	}
	return true
}
