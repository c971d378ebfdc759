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
