package engine

import (
	"crypto/rand"
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// shout hands the endpoint a handshake for socket id 0 from an address.
func shout(e *Endpoint, from netip.AddrPort, m wire.Handshake) {
	b := e.cache.Get()
	data := make([]byte, wire.HeaderSize, 512)
	wire.ControlHeader{Type: wire.CtrlHandshake}.Put(data)
	b.Reset(copy(b.Mem(), m.Append(data)))
	e.HandleDatagram(mono.Time(time.Hour), dgram.In{Buf: b, From: from})
}

// A forged request of socket id 0 in the name of another listener must not make
// the two answer each other's answers for ever.
func TestListenersDoNotAnswerEachOther(t *testing.T) {
	cfg := DefaultConfig()
	e := NewEndpoint(EndpointConfig{Rand: rand.Reader, Cache: newCache()})
	e.Listen(&cfg, 8)
	from := netip.MustParseAddrPort("10.0.0.9:9000")
	for _, typ := range []wire.HSType{wire.HSInduction, wire.HSConclusion} {
		m := wire.Handshake{Version: 4, ExtField: 2, MSS: 1500, FlowWindow: 8192, Type: typ}
		if typ == wire.HSConclusion {
			m.Version, m.Cookie = 5, e.lis.cookie(mono.Time(time.Hour), from)
		}
		shout(e, from, m)
		if len(e.replies) != 0 {
			t.Errorf("%v with socket id 0 was answered", typ)
		}
	}
	if e.counters.BadHandshake != 2 {
		t.Errorf("%d bad handshakes counted, want 2", e.counters.BadHandshake)
	}
}

// reborn gives the wirePair's caller a successor at the same address.
func (p *wirePair) reborn(cfg Config, id wire.SocketID) {
	p.ends[0] = NewEndpoint(EndpointConfig{Rand: rand.Reader, Cache: p.cache})
	if id != 0 {
		p.ends[0].nextID = id - 1
	}
	p.conns[0] = p.ends[0].Dial(p.now, &cfg, p.addrs[1])
}

// A caller that begins anew with the same socket id is served; a SHUTDOWN meant
// for its former life would reach the new one.
func TestRestartedCallerWithTheSameSocketID(t *testing.T) {
	cfg := DefaultConfig()
	p := newWirePair(t, cfg)
	old := p.conns[1]
	p.reborn(cfg, p.conns[0].id)
	for range 300 {
		p.turn()
		old.PollTransmit(p.now, &p.batch)
		for _, o := range p.batch.Control {
			if h, _, _ := wire.ParseControl(o.Data); h.Type == wire.CtrlShutdown {
				t.Fatal("SHUTDOWN to the new caller")
			}
		}
	}
	if !old.Dead() {
		t.Error("the old connection is still there")
	}
	if p.conns[0].state != stateConnected || p.conns[1] == old || p.ends[1].Conns() != 1 {
		t.Error("the new caller is not served")
	}
}

// A new connection ends what is left of the caller that had its address before,
// but not the quiet connections of a caller that is alive.
func TestSilentConnectionsOfTheSameAddress(t *testing.T) {
	for _, alive := range []bool{false, true} {
		cfg := DefaultConfig()
		p := newWirePair(t, cfg)
		quiet := p.conns[1]
		if alive {
			p.reborn(cfg, p.conns[0].id+100)
			p.run(10 * time.Millisecond)
		}
		quiet.live.lastHeard = p.now.Add(-3 * time.Second)
		p.reborn(cfg, p.conns[0].id+100)
		p.run(10 * time.Millisecond)
		quiet.HandleTimeout(p.now)
		quiet.PollEvent()
		if quiet.Dead() == alive {
			t.Errorf("caller alive %v: connection ended %v", alive, quiet.Dead())
		}
	}
}

// A caller whose answer was lost just before the listener ended gets it again;
// a caller that was never accepted gets nothing.
func TestConclusionAfterTheListenerEnded(t *testing.T) {
	p := newWirePair(t, DefaultConfig())
	e, c := p.ends[1], p.conns[1]
	e.StopListening()
	conclusion := wire.Handshake{
		Version: 5, MSS: 1500, FlowWindow: 8192, Type: wire.HSConclusion,
		SocketID: c.peerID, InitSeq: c.initSeq,
	}
	shout(e, p.addrs[0], conclusion)
	if !c.ctl.handshake {
		t.Error("the accepted caller gets no answer")
	}
	conclusion.SocketID++
	shout(e, p.addrs[0], conclusion)
	if e.counters.NotListening != 1 || len(e.replies) != 0 {
		t.Errorf("a stranger was answered, or not counted (%d)", e.counters.NotListening)
	}
}
