package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// acks returns the ACKs that a Peer heard and when.
func (p *Peer) acks() (out []wire.ACK, at []mono.Time) {
	for _, h := range p.Heard {
		if t, ok := h.Control(); !ok || t != wire.CtrlACK {
			continue
		}
		_, content, _ := wire.ParseControl(h.Data)
		if a, err := wire.ParseACK(content); err == nil {
			out, at = append(out, a), append(at, h.At)
		}
	}
	return out, at
}

// dataHeard returns the first arrivals of data packets at a Peer.
func (p *Peer) dataHeard() (out []Heard) {
	for _, h := range p.Heard {
		if h.IsData() {
			out = append(out, h)
		}
	}
	return out
}

func TestC09aAvailableBufferIsWhatIsFree(t *testing.T) {
	for _, latency := range []time.Duration{120 * time.Millisecond, time.Second} {
		cfg := liveConfig(latency)
		w, p, h := peerAndHost(t, cfg)
		p.AnswerACK = true
		if !p.Connect(latency) {
			t.Fatal("no connection")
		}
		p.stream(0, 666*time.Microsecond, 6000, 188, nil)
		w.RunFor(6 * time.Second)
		held := int(1500 * latency.Seconds())
		least := uint32(cfg.RcvBufPkts)
		acks, _ := p.acks()
		for _, a := range acks {
			if a.Kind != wire.ACKLight {
				least = min(least, a.AvailBufPkts)
			}
		}
		if want := uint32(cfg.RcvBufPkts - held - 100); least < want {
			t.Errorf("latency %v: available buffer went down to %d of %d packets, %d are held", latency, least, cfg.RcvBufPkts, held)
		}
		if n := len(h.Accepted[0].Indexes()); n != 6000 {
			t.Errorf("%d messages of 6000", n)
		}
	}
}

// listenAndReceive is a scripted caller that receives from a Host's session.
func listenAndReceive(t *testing.T, latency time.Duration) (*World, *Peer, *Session) {
	w, p, h := peerAndHost(t, liveConfig(latency))
	if !p.Connect(latency) {
		t.Fatal("no connection")
	}
	return w, p, h.Accepted[0]
}

// ack makes the Peer acknowledge everything up to the newest packet it heard.
func (p *Peer) ack(no uint32, avail uint32) {
	next := p.InitSeq
	for _, h := range p.dataHeard() {
		if n := h.Seq().Next(); next.Less(n) {
			next = n
		}
	}
	a := wire.ACK{Kind: wire.ACKFull, LastAckSeq: next, RTTUs: 10000, RTTVarUs: 1000, AvailBufPkts: avail}
	content := make([]byte, a.Kind.Size())
	a.Put(content)
	p.Control(wire.CtrlACK, no, content)
}

func TestC09bReopenedByThePeer(t *testing.T) {
	w, p, s := listenAndReceive(t, 2*time.Second)
	s.Stream(0, 5*time.Millisecond, 600, 500)
	w.Every(0, 10*time.Millisecond, 100, func(i int) { p.ack(uint32(i+1), 8192) })
	w.RunFor(time.Second)
	w.Every(0, 10*time.Millisecond, 50, func(i int) { p.ack(uint32(i+101), 0) })
	w.RunFor(500 * time.Millisecond)
	p.ack(151, 8192)
	reopened := w.Now
	w.RunFor(100 * time.Millisecond)
	heard := p.dataHeard()
	if last := heard[len(heard)-1]; last.At < reopened {
		t.Error("nothing came within 100 ms after the window had re-opened")
	}
	w.Every(0, 10*time.Millisecond, 200, func(i int) { p.ack(uint32(i+152), 8192) })
	w.RunFor(2500 * time.Millisecond)
	got := map[seq.Number]bool{}
	for _, h := range p.dataHeard() {
		got[h.Seq()] = true
	}
	if len(got) < 600 {
		t.Errorf("%d different packets of 600", len(got))
	}
}

// A receiver with a small buffer whose application pauses: when it reads on,
// the sender must hear of it without waiting for new data.
func TestC09cReopenedByTheApplication(t *testing.T) {
	p := NewPair(t, seed(1)).Delay(5 * time.Millisecond)
	cfg := liveConfig(120 * time.Millisecond)
	small := cfg
	small.RcvBufPkts, small.TLPktDrop = 64, false
	p.Connect(cfg, small)
	p.A.Stream(0, 10*time.Millisecond, 600, 500)
	p.RunFor(time.Second)
	p.B.Paused = true
	p.RunFor(2 * time.Second)
	p.B.Paused = false
	n, resumed := len(p.B.Received), p.Now
	p.RunFor(100 * time.Millisecond)
	after := p.B.Received[n:]
	if len(after) < 64 {
		t.Fatalf("%d messages within 100 ms after reading on", len(after))
	}
	fresh := 0
	for _, a := range p.B.arrived {
		if a.at > resumed {
			fresh++
		}
	}
	if fresh == 0 {
		t.Error("no new packet within 100 ms after the buffer had room again")
	}
	p.RunFor(6 * time.Second)
	Flow{p.A, p.B}.Missing() // order and content
	if last := p.B.Indexes(); len(last) == 0 || last[len(last)-1] != 599 {
		t.Error("the stream did not go on to its end")
	}
	p.Finish(20 * time.Second)
}

// An ACK never speaks of no room at all: libsrt's sender may then have dropped
// what all later ACKs name, takes none of them for news, and stays silent.
func TestC09cFullBufferIsNotSaidToBeNone(t *testing.T) {
	cfg := liveConfig(120 * time.Millisecond)
	cfg.RcvBufPkts, cfg.TLPktDrop = 64, false
	w, p, h := peerAndHost(t, cfg)
	p.AnswerACK = true
	if !p.Connect(120 * time.Millisecond) {
		t.Fatal("no connection")
	}
	h.Accepted[0].Paused = true
	p.stream(0, 5*time.Millisecond, 100, 188, nil)
	w.RunFor(2 * time.Second)
	acks, _ := p.acks()
	least, full := uint32(cfg.RcvBufPkts), 0
	for _, a := range acks {
		if a.Kind != wire.ACKLight {
			least = min(least, a.AvailBufPkts)
			full++
		}
	}
	if full == 0 || least != 2 {
		t.Errorf("the available buffer went down to %d packets in %d ACKs, want 2", least, full)
	}
}

// word appends 32-bit words to a control packet's content.
func words(ws ...uint32) (b []byte) {
	for _, w := range ws {
		b = append(b, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	return b
}

func TestC10BrokenNAK(t *testing.T) {
	const rangeBit = 1 << 31
	// base is the number of a packet that the sender still holds.
	broken := func(base seq.Number) map[string][]byte {
		b := uint32(base)
		ranges := func(bad int) (c []byte) {
			for i := range 300 {
				first := base.Add(-900 + 3*i)
				if i == bad {
					first = base.Add(5000) // not yet sent
				}
				c = wire.AppendNAKRange(c, wire.SeqRange{First: first, Last: first.Add(i % 10 / 9)})
			}
			return c
		}
		return map[string][]byte{
			"a range end of all ones":         words(b|rangeBit, 0xFFFFFFFF),
			"b range without end":             words(b | rangeBit),
			"c start after end":               words((b+3)|rangeBit, b),
			"d not yet sent":                  words(uint32(base.Add(1000))),
			"f empty":                         nil,
			"g one bad among 300":             ranges(150),
			"odd length":                      {1, 2, 3},
			"range that reaches past the end": words(b|rangeBit, uint32(base.Add(3000))),
		}
	}
	for name := range broken(0) {
		t.Run(name, func(t *testing.T) {
			w, p, s := listenAndReceive(t, 2*time.Second)
			s.Stream(0, 10*time.Millisecond, 600, 500)
			w.Every(0, 10*time.Millisecond, 200, func(i int) { p.ack(uint32(i+1), 8192) })
			w.RunFor(2 * time.Second)
			heard := p.dataHeard()
			before := len(heard)
			w.Every(0, 10*time.Millisecond, 400, func(i int) { p.ack(uint32(i+201), 8192) })
			p.Control(wire.CtrlNAK, 0, broken(heard[before-1].Seq())[name])
			w.RunFor(2 * time.Second)
			after := p.dataHeard()[before:]
			if len(after)*100 < before*95 {
				t.Errorf("%d packets in 2 s before, %d after", before, len(after))
			}
			for _, h := range after {
				if wire.IsRexmit(h.Data) {
					t.Errorf("seq %d was sent again", h.Seq())
				}
			}
			if n := s.Stats().BadNAK; n != 1 {
				t.Errorf("%d refused reports counted, want 1", n)
			}
			if p.Count(wire.CtrlShutdown) != 0 || s.Ended() {
				t.Error("the session ended")
			}
			wantCleanCaller(t, w, s.Host, s.Host.ListenConfig)
		})
	}
}

// A report of something no longer held is answered with a drop request.
func TestC10eNAKOlderThanTheBuffer(t *testing.T) {
	w, p, s := listenAndReceive(t, 2*time.Second)
	s.Stream(0, 10*time.Millisecond, 300, 500)
	w.Every(0, 10*time.Millisecond, 350, func(i int) { p.ack(uint32(i+1), 8192) })
	w.RunFor(2 * time.Second)
	old := p.InitSeq.Add(3)
	p.Control(wire.CtrlNAK, 0, wire.AppendNAKRange(nil, wire.SeqRange{First: old, Last: old}))
	w.RunFor(2 * time.Second)
	var ranges []wire.SeqRange
	for _, h := range p.Heard {
		if c, ok := h.Control(); ok && c == wire.CtrlDropReq {
			_, content, _ := wire.ParseControl(h.Data)
			r, err := wire.ParseDropReq(content)
			if err != nil {
				t.Fatal(err)
			}
			ranges = append(ranges, r)
		}
	}
	if !slices.ContainsFunc(ranges, func(r wire.SeqRange) bool { return r.First.LessEq(old) && old.LessEq(r.Last) }) {
		t.Errorf("drop requests %v, want one that covers %d", ranges, old)
	}
	if n := len(p.dataHeard()); n != 300 || s.Ended() {
		t.Errorf("%d packets of 300, ended: %v", n, s.Ended())
	}
}
