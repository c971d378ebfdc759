package sim

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// liveConfig is the default with another latency on both wishes.
func liveConfig(latency time.Duration) engine.Config {
	cfg := engine.DefaultConfig()
	cfg.RcvLatency = latency
	return cfg
}

// peerAndHost is a scripted caller before a listening Host, 5 ms away.
func peerAndHost(t *testing.T, cfg engine.Config) (*World, *Peer, *Host) {
	w := NewWorld(t, 1)
	h := w.NewHost(ListenerAddr)
	h.Listen(cfg)
	p := w.NewPeer("10.0.0.9:9009", h.Addr)
	w.Link(p.Addr, h.Addr).Config.Delay = 5 * time.Millisecond
	w.Link(h.Addr, p.Addr).Config.Delay = 5 * time.Millisecond
	return w, p, h
}

// stream lets the Peer send n numbered payloads and keep the connection alive.
func (p *Peer) stream(first, interval time.Duration, n, size int, lost func(i int) bool) {
	p.World.Every(first, interval, n, func(i int) {
		if lost == nil || !lost(i) {
			p.Data(i, p.Stamp(), false, Payload(uint32(i), size))
		}
	})
}

func (p *Peer) keepAlive(n int) {
	p.World.Every(time.Second, time.Second, n, func(int) { p.Control(wire.CtrlKeepAlive, 0, make([]byte, 4)) })
}

// conclusionReplies returns the whole datagrams that answered conclusions.
func (p *Peer) conclusionReplies() (out [][]byte) {
	for _, h := range p.Heard {
		if hs, ok := h.Handshake(); ok && hs.Type != wire.HSInduction {
			out = append(out, h.Data)
		}
	}
	return out
}

func TestC01RepeatedConclusionGetsTheSameAnswer(t *testing.T) {
	w, p, h := peerAndHost(t, liveConfig(120*time.Millisecond))
	p.AnswerACK = true
	if !p.Connect(120 * time.Millisecond) {
		t.Fatal("no connection")
	}
	ext := LiveExt(120*time.Millisecond, 120*time.Millisecond)
	w.Every(250*time.Millisecond, 250*time.Millisecond, 3, func(int) {
		p.Conclude(wire.ExtFieldHSReq, ext.Append(nil, wire.ExtHSReq))
	})
	p.stream(time.Second, 10*time.Millisecond, 300, 1316, nil)
	p.keepAlive(11)
	w.RunFor(11 * time.Second)
	replies := p.conclusionReplies()
	if len(replies) < 4 {
		t.Fatalf("%d answers to 4 conclusions", len(replies))
	}
	for i, r := range replies {
		if !equalButStamp(r, replies[0]) {
			t.Errorf("answer %d differs:\n%x\n%x", i, r, replies[0])
		}
	}
	if h.Requests != 1 || len(h.Accepted) != 1 || h.EP.Conns() != 1 {
		t.Fatalf("%d requests, %d accepted, %d connections; want one each", h.Requests, len(h.Accepted), h.EP.Conns())
	}
	s := h.Accepted[0]
	if got := s.Indexes(); len(got) != 300 || s.Ended() {
		t.Errorf("%d messages of 300, ended: %v", len(got), s.Ended())
	}
}

// equalButStamp compares two control packets without their time stamps.
func equalButStamp(a, b []byte) bool {
	a, b = bytes.Clone(a), bytes.Clone(b)
	wire.SetStamp(a, 0)
	wire.SetStamp(b, 0)
	return bytes.Equal(a, b)
}

func TestC01ResponseLostOrSlow(t *testing.T) {
	firstResponse := func(p *Packet) bool {
		hs, ok := p.Handshake()
		return ok && hs.Type == wire.HSConclusion && p.Attempt == 2
	}
	for name, set := range map[string]func(p *Pair){
		"first response dropped": func(p *Pair) { p.Delay(5 * time.Millisecond).Down.Config.Drop = firstResponse },
		"300 ms each way":        func(p *Pair) { p.Delay(300 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPair(t, seed(3))
			set(p)
			cfg := liveConfig(2 * time.Second)
			p.Connect(cfg, cfg)
			// A message for the listener's receiver first, then both ways.
			p.A.Stream(0, 10*time.Millisecond, 300, 1316)
			p.B.Stream(0, 10*time.Millisecond, 300, 1316)
			p.RunFor(10 * time.Second)
			if p.Listener.Requests != 1 || p.A.Ended() || p.B.Ended() {
				t.Errorf("%d requests, ended %v %v", p.Listener.Requests, p.A.Ended(), p.B.Ended())
			}
			Flow{p.A, p.B}.WantComplete()
			Flow{p.B, p.A}.WantComplete()
			p.Finish(20 * time.Second)
		})
	}
}

// conclusions of case C02: what the caller sends and what must come of it.
type helloVariant struct {
	name     string
	extField uint16
	exts     func() []byte
	accept   bool
	streamID string
	secret   string
}

func helloVariants() []helloVariant {
	const hsreq, km, config = wire.ExtFieldHSReq, wire.ExtFieldKMReq, wire.ExtFieldConfig
	live := LiveExt(120*time.Millisecond, 0)
	hsReq := live.Append(nil, wire.ExtHSReq)
	sid := wire.AppendString(nil, wire.ExtSID, "live/cam1")
	kmReq := wire.AppendExtension(nil, wire.ExtKMReq, keyMaterial("correct horse", 16))
	unknown := wire.AppendExtension(nil, 99, []byte{1, 2, 3, 4})
	bytesOf := func(parts ...[]byte) func() []byte { return func() []byte { return bytes.Join(parts, nil) } }
	falseLength := append(bytes.Clone(sid), hsReq...)
	falseLength[3] += 100
	return []helloVariant{
		{"a HSREQ SID", hsreq | config, bytesOf(hsReq, sid), true, "live/cam1", ""},
		{"b SID HSREQ", hsreq | config, bytesOf(sid, hsReq), true, "live/cam1", ""},
		{"c HSREQ KMREQ SID", hsreq | km | config, bytesOf(hsReq, kmReq, sid), true, "live/cam1", "correct horse"},
		{"c HSREQ SID KMREQ", hsreq | km | config, bytesOf(hsReq, sid, kmReq), true, "live/cam1", "correct horse"},
		{"d unknown first", hsreq, bytesOf(unknown, hsReq), true, "", ""},
		{"e flag without bytes", hsreq, bytesOf(), false, "", ""},
		{"f no flag no bytes", 0, bytesOf(), false, "", ""},
		{"g SID of length 0", hsreq | config, bytesOf(hsReq, wire.AppendExtension(nil, wire.ExtSID, nil)), false, "", ""},
		{"h length past the end", hsreq | config, bytesOf(hsReq, falseLength), false, "", ""},
		{"i HSREQ twice", hsreq, bytesOf(hsReq, hsReq), false, "", ""},
		{"j HSREQ too short", hsreq, bytesOf(wire.AppendExtension(nil, wire.ExtHSReq, make([]byte, 8))), false, "", ""},
	}
}

// keyMaterial builds a KMREQ message with one even key.
func keyMaterial(passphrase string, keyLen int) []byte {
	m := wire.KeyMaterial{KK: wire.KKEven, Cipher: 2, KeyLen: keyLen}
	copy(m.Salt[:], "0123456789abcdef")
	kek := crypt.DeriveKEK(passphrase, m.Salt, keyLen)
	wrapped, err := crypt.WrapKeys(kek, bytes.Repeat([]byte{7}, keyLen))
	if err != nil {
		panic(err)
	}
	m.Wrapped = wrapped
	return m.Append(nil)
}

func TestC02Extensions(t *testing.T) {
	for _, v := range helloVariants() {
		t.Run(v.name, func(t *testing.T) {
			cfg := liveConfig(120 * time.Millisecond)
			cfg.Passphrase = v.secret
			w, p, h := peerAndHost(t, cfg)
			if !p.Induce() {
				t.Fatal("no induction response")
			}
			p.Conclude(v.extField, v.exts())
			w.RunFor(100 * time.Millisecond)
			replies := p.Replies()
			if len(replies) != 1 {
				t.Fatalf("%d answers", len(replies))
			}
			if got := replies[0].Type == wire.HSConclusion; got != v.accept {
				t.Fatalf("answer %v, accepted should be %v", replies[0].Type, v.accept)
			}
			if v.accept && h.Accepted[0].Conn.StreamID() != v.streamID {
				t.Errorf("stream id %q, want %q", h.Accepted[0].Conn.StreamID(), v.streamID)
			}
			if !v.accept && (!replies[0].Type.IsReject() || h.EP.Conns() != 0) {
				t.Errorf("answer %v, %d connections left", replies[0].Type, h.EP.Conns())
			}
			wantCleanCaller(t, w, h, cfg)
		})
	}
}

// wantCleanCaller fails the test if a well-behaved caller is not served.
func wantCleanCaller(t *testing.T, w *World, h *Host, cfg engine.Config) {
	t.Helper()
	other := w.NewHost(fmt.Sprintf("10.0.0.8:%d", 20000+len(w.nodes)))
	n := len(h.Accepted)
	a := other.Dial(cfg, h.Addr)
	w.RunUntil(time.Second, func() bool { return a.Connected })
	if !a.Connected || len(h.Accepted) != n+1 {
		t.Fatalf("a clean caller is not served: %v", a.Err)
	}
	a.Stream(0, 10*time.Millisecond, 20, 500)
	w.RunFor(time.Second + a.Conn.PeerLatency())
	Flow{a, h.Accepted[n]}.WantComplete()
}

// A conclusion that is refused, and one whose caller leaves at once, cost
// nothing that stays.
func TestC02MemoryIsFlat(t *testing.T) {
	w, p, h := peerAndHost(t, liveConfig(120*time.Millisecond))
	w.MaxSteps = 1 << 30
	p.Induce()
	variants := helloVariants()
	round := func(i int) {
		v := variants[i%len(variants)]
		p.ID++
		p.Conclude(v.extField, v.exts())
		w.RunFor(20 * time.Millisecond)
		if v.accept && v.secret == "" {
			p.Control(wire.CtrlShutdown, 0, make([]byte, 4))
			w.RunFor(50 * time.Millisecond)
		}
		p.Heard, h.Sessions, h.Accepted = nil, nil, nil
		clear(h.conclusions)
	}
	// Key material is not set on this listener, so c is refused or served
	// without a key; what matters here is that nothing stays.
	for i := range 500 {
		round(i)
	}
	w.RunFor(10 * time.Second)
	before := heapBytes()
	for i := range 10000 {
		round(i)
		if i%1000 == 0 {
			p.Induce() // a cookie is not for ever
		}
	}
	w.RunFor(10 * time.Second)
	if grown := int64(heapBytes()) - int64(before); grown > 5<<20 {
		t.Errorf("heap grew by %d bytes in 10000 rounds", grown)
	}
	if n := h.EP.Conns(); n != 0 {
		t.Errorf("%d connections left", n)
	}
	wantCleanCaller(t, w, h, liveConfig(120*time.Millisecond))
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// allOnes is the worst entropy for a caller that must not start at 0x7FFFFFFF.
type allOnes struct{}

func (allOnes) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 0xFF
	}
	return len(b), nil
}

func TestC11CallerNeverStartsAtTheTop(t *testing.T) {
	w := NewWorld(t, 1)
	p := w.NewPeer(ListenerAddr, ListenerAddrPort)
	h := w.NewHost(CallerAddr)
	h.EP = engine.NewEndpoint(engine.EndpointConfig{Rand: allOnes{}, Cache: h.cache})
	h.Dial(liveConfig(120*time.Millisecond), p.Addr)
	w.RunFor(10 * time.Millisecond)
	hs, ok := p.Heard[0].Handshake()
	if !ok || hs.InitSeq == seq.Max || hs.InitSeq > seq.Max {
		t.Errorf("initial sequence number %#x", hs.InitSeq)
	}
}
