package engine

import (
	"crypto/rand"
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// wirePair is two Endpoints and nothing in between: what one sends the other
// has at the same instant.
type wirePair struct {
	t        testing.TB
	now      mono.Time
	cache    *dgram.Cache
	ends     [2]*Endpoint
	conns    [2]*Conn // caller, accepted
	addrs    [2]netip.AddrPort
	batch    dgram.Batch
	messages []Message
	received int
	lag      time.Duration // of what is handed on
}

func newWirePair(t testing.TB, cfg Config) *wirePair { return newLatePair(t, cfg, 0) }

func newLatePair(t testing.TB, cfg Config, lag time.Duration) *wirePair {
	p := &wirePair{t: t, lag: lag, now: mono.Time(time.Hour), cache: newCache(), messages: make([]Message, 0, 64)}
	for i := range p.ends {
		p.ends[i] = NewEndpoint(EndpointConfig{Rand: rand.Reader, Cache: p.cache})
		p.addrs[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 9000)
	}
	p.ends[1].Listen(&cfg, 1)
	p.conns[0] = p.ends[0].Dial(p.now, &cfg, p.addrs[1])
	for range 10 {
		p.turn()
	}
	if p.conns[1] == nil || p.conns[0].state != stateConnected {
		t.Fatal("no connection")
	}
	return p
}

// turn drains both ends once and advances to the next millisecond.
func (p *wirePair) turn() {
	for i := range p.ends {
		p.drain(i)
	}
	p.now = p.now.Add(time.Millisecond)
	for _, c := range p.conns {
		if c != nil && c.PollTimeout() <= p.now {
			c.HandleTimeout(p.now)
		}
	}
}

func (p *wirePair) drain(i int) {
	p.batch.Reset()
	p.ends[i].PollTransmit(p.now, &p.batch)
	if c := p.conns[i]; c != nil {
		c.PollTransmit(p.now, &p.batch)
		p.messages = c.PollMessages(p.now, p.messages[:0])
		for _, m := range p.messages {
			p.received++
			p.cache.Put(m.Buf)
		}
		c.PollEvent()
		c.PollTimeout()
	}
	for _, list := range [][]dgram.Out{p.batch.Control, p.batch.Data} {
		for _, o := range list {
			p.carry(i, o)
		}
	}
	if ev, ok := p.ends[1].PollEvent(); ok {
		c, err := p.ends[1].Accept(p.now, ev.Request, &p.ends[1].lis.cfg)
		if err != nil {
			p.t.Fatal(err)
		}
		p.conns[1] = c
	}
}

func (p *wirePair) carry(from int, o dgram.Out) {
	b := p.cache.Get()
	b.Reset(copy(b.Mem(), o.Data))
	p.ends[1-from].HandleDatagram(p.now, dgram.In{Buf: b, From: p.addrs[from], Lag: int64(p.lag)})
}

// send hands n messages to the caller.
func (p *wirePair) send(n int) {
	for range n {
		b := p.cache.Get()
		b.Reset(dgram.HeaderSize + 1316)
		if !p.conns[0].Send(p.now, b, p.now) {
			p.t.Fatal("message not taken")
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	p := newWirePair(t, DefaultConfig())
	for range 400 { // beyond the latency, so that rings have their size
		p.send(4)
		p.turn()
	}
	if n := testing.AllocsPerRun(1000, func() { p.send(4); p.turn() }); n != 0 {
		t.Errorf("%v allocations a turn of four messages, want none", n)
	}
	if p.received < 5000 {
		t.Errorf("only %d messages arrived", p.received)
	}
}

// BenchmarkMessage is the protocol's own cost of one message: sender, receiver
// and the copy between them.
func BenchmarkMessage(b *testing.B) {
	p := newWirePair(b, DefaultConfig())
	b.ReportAllocs()
	for b.Loop() {
		p.send(1)
		p.turn()
	}
	if p.received == 0 {
		b.Fatal("nothing arrived")
	}
}
