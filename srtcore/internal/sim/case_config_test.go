package sim

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/wire"
)

func mustAddr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// wantLatency connects and checks the negotiated latencies (caller's receiver,
// listener's receiver), on both ends, in the HSRSP and by the clock.
func wantLatency(t *testing.T, caller, listener engine.Config, down, up time.Duration) {
	t.Helper()
	p := NewPair(t, 1).Delay(10 * time.Millisecond)
	var rsp wire.HSExt
	p.Down.Config.Tap = func(pkt *Packet, _ Fate) {
		hs, ok := pkt.Handshake()
		if !ok || hs.Type != wire.HSConclusion {
			return
		}
		exts, _ := wire.ParseExtensions(hs.Exts, nil)
		for _, e := range exts {
			if e.Type == wire.ExtHSRsp {
				rsp, _ = wire.ParseHSExt(e.Content)
			}
		}
	}
	p.Connect(caller, listener)
	if got := time.Duration(rsp.RcvTSBPDDelayMs) * time.Millisecond; got != up {
		t.Errorf("HSRSP receiver latency %v, want %v", got, up)
	}
	if got := time.Duration(rsp.SndTSBPDDelayMs) * time.Millisecond; got != down {
		t.Errorf("HSRSP sender latency %v, want %v", got, down)
	}
	a, b := p.A.Conn, p.B.Conn
	if a.RcvLatency() != down || b.PeerLatency() != down || b.RcvLatency() != up || a.PeerLatency() != up {
		t.Errorf("caller says %v/%v, listener %v/%v; want %v down, %v up",
			a.RcvLatency(), a.PeerLatency(), b.RcvLatency(), b.PeerLatency(), down, up)
	}
	p.A.Stream(0, 20*time.Millisecond, 100, 300)
	p.B.Stream(0, 20*time.Millisecond, 100, 300)
	p.RunFor(4 * time.Second)
	for _, f := range []struct {
		Flow
		latency time.Duration
	}{{Flow{p.A, p.B}, up}, {Flow{p.B, p.A}, down}} {
		f.WantComplete()
		for i, d := range f.Delays() {
			if off := d - f.latency - 10*time.Millisecond; off.Abs() > slack {
				t.Fatalf("message %d took %v at a latency of %v", i, d, f.latency)
			}
		}
	}
	p.Finish(20 * time.Second)
}

func TestC15LatencyIsTheLarger(t *testing.T) {
	wishes := []time.Duration{20 * time.Millisecond, 120 * time.Millisecond, 900 * time.Millisecond}
	both := func(d time.Duration) engine.Config {
		cfg := liveConfig(d)
		cfg.PeerLatency = d
		return cfg
	}
	for _, c := range wishes {
		for _, l := range wishes {
			t.Run(fmt.Sprintf("%v-%v", c, l), func(t *testing.T) {
				wantLatency(t, both(c), both(l), max(c, l), max(c, l))
			})
		}
	}
}

func TestC15SeparateLatencies(t *testing.T) {
	const ms = time.Millisecond
	for _, v := range []struct{ callerRcv, callerPeer, listenerRcv, listenerPeer, down, up time.Duration }{
		{120, 0, 120, 0, 120, 120},
		{300, 0, 120, 0, 300, 120},
		{300, 340, 120, 0, 300, 340},
		{120, 0, 900, 100, 120, 900},
		{120, 0, 120, 800, 800, 120},
		{0, 0, 0, 0, 0, 0},
		{50, 700, 200, 400, 400, 700},
	} {
		caller, listener := liveConfig(v.callerRcv*ms), liveConfig(v.listenerRcv*ms)
		caller.PeerLatency, listener.PeerLatency = v.callerPeer*ms, v.listenerPeer*ms
		t.Run(fmt.Sprint(v), func(t *testing.T) { wantLatency(t, caller, listener, v.down*ms, v.up*ms) })
	}
}

// The smaller MSS holds for both; one message is one packet; a receiver takes
// what fits, whatever its own payload size.
func TestC08MSS(t *testing.T) {
	for _, v := range []struct{ caller, listener int }{
		{1500, 1500}, {1360, 1500}, {1500, 1360}, {1300, 1500}, {1500, 1300}, {576, 1500}, {1500, 576}, {1300, 576},
	} {
		t.Run(fmt.Sprintf("%d-%d", v.caller, v.listener), func(t *testing.T) {
			p := NewPair(t, 1).Delay(5 * time.Millisecond)
			least := min(v.caller, v.listener)
			check := func(pkt *Packet, _ Fate) {
				if len(pkt.Data) > least-28 && pkt.IsData() {
					t.Errorf("a datagram of %d bytes at MSS %d", len(pkt.Data), least)
				}
				if h, err := wire.ParseData(pkt.Data); err == nil && h.PP != wire.PPSolo {
					t.Errorf("seq %d is %v, not a whole message", h.Seq, h.PP)
				}
			}
			p.Up.Config.Tap, p.Down.Config.Tap = check, check
			caller, listener := liveConfig(120*time.Millisecond), liveConfig(120*time.Millisecond)
			caller.MSS, listener.MSS = v.caller, v.listener
			listener.PayloadSize = 188 // says nothing about what it receives
			p.Connect(caller, listener)
			if got := p.A.Conn.MaxPayload(); got != least-44 {
				t.Errorf("caller's largest message is %d, want %d", got, least-44)
			}
			if got := p.B.Conn.MaxPayload(); got != 188 {
				t.Errorf("listener's largest message is %d, want 188", got)
			}
			want := 0
			for _, n := range []int{8, 187, 188, 532, 1316, 1328, 1428, 1456, least - 44} {
				if took := p.A.SendNext(n); took != (n <= least-44) {
					t.Errorf("%d bytes taken: %v", n, took)
				} else if took {
					want++
				}
			}
			p.RunFor(time.Second)
			Flow{p.A, p.B}.WantComplete()
			if len(p.B.Received) != want {
				t.Errorf("%d messages, want %d", len(p.B.Received), want)
			}
			p.Finish(20 * time.Second)
		})
	}
}

func TestC08PayloadSizes(t *testing.T) {
	p := NewPair(t, 1).Delay(5 * time.Millisecond)
	cfg := liveConfig(120 * time.Millisecond)
	p.Connect(cfg, cfg)
	sizes := []int{1, 187, 188, 1316, 1328, 1428, 1456}
	for _, n := range sizes {
		if !p.A.Send(make([]byte, n)) {
			t.Errorf("%d bytes refused", n)
		}
	}
	p.RunFor(time.Second)
	for i, r := range p.B.Received {
		if len(r.Data) != sizes[i] {
			t.Errorf("message %d has %d bytes, want %d", i, len(r.Data), sizes[i])
		}
	}
	if len(p.B.Received) != len(sizes) {
		t.Errorf("%d messages, want %d", len(p.B.Received), len(sizes))
	}
	p.Finish(20 * time.Second)
}
