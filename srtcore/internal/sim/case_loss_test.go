package sim

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

func TestC13SwapsAreNotLosses(t *testing.T) {
	for _, v := range []struct{ tolerance, distance int }{{0, 3}, {5, 1}, {5, 3}, {5, 5}} {
		p := NewPair(t, seed(2)).Delay(10 * time.Millisecond)
		cfg := liveConfig(200 * time.Millisecond)
		cfg.LossMaxTTL = v.tolerance
		p.Connect(cfg, cfg)
		// The very first packet is overtaken for sure.
		p.Up.Config.Reorder, p.Up.Config.ReorderBy = 1, v.distance
		p.A.SendNext(1316)
		p.Drain()
		p.Up.Config.Reorder = .05
		const every, n = 2100 * time.Microsecond, 9000 // 5 Mb/s
		p.A.Stream(every, every, n, 1316)
		p.RunFor(n*every + time.Second)
		st := p.A.Stats()
		share := float64(st.Retrans.Packets) / float64(st.SentUnique.Packets)
		switch {
		case v.tolerance < v.distance && share < .02:
			t.Errorf("%+v: only %.2f %% repeated; the test does not test", v, 100*share)
		case v.tolerance >= v.distance && share >= .005:
			t.Errorf("%+v: %.2f %% repeated though the tolerance covers the swaps", v, 100*share)
		}
		Flow{p.A, p.B}.WantComplete()
		p.Finish(20 * time.Second)
	}
}

// A loss that is held back for the tolerance is reported all the same when
// nothing more comes but keepalives.
func TestC13HeldBackLossIsReported(t *testing.T) {
	for _, latency := range []time.Duration{200 * time.Millisecond, time.Second, 4 * time.Second} {
		p := NewPair(t, seed(2)).Delay(10 * time.Millisecond)
		cfg := liveConfig(latency)
		cfg.LossMaxTTL = 5
		var asked mono.Time
		p.Down.Config.Tap = func(pkt *Packet, _ Fate) {
			if c, ok := pkt.Control(); ok && c == wire.CtrlNAK && asked == 0 {
				asked = pkt.Sent
			}
		}
		p.Connect(cfg, cfg)
		p.A.Stream(0, 10*time.Millisecond, 50, 500)
		p.RunFor(600 * time.Millisecond)
		p.Up.Config.Drop = func(pkt *Packet) bool { return pkt.IsData() && !wire.IsRexmit(pkt.Data) }
		p.A.SendNext(500)
		lost := p.Now
		p.Drain()
		p.Up.Config.Drop = nil
		p.After(10*time.Millisecond, func() { p.A.SendNext(500) })
		p.RunFor(latency + 2*time.Second)
		if asked == 0 || asked.Sub(lost) > latency/2+20*time.Millisecond {
			t.Errorf("latency %v: asked for after %v", latency, asked.Sub(lost))
		}
		Flow{p.A, p.B}.WantComplete()
		p.Finish(30 * time.Second)
	}
}

// wireBytes is a tap that adds up what goes over a link, UDP payload and
// headers, without control packets.
func wireBytes(sum *int64) func(*Packet, Fate) {
	return func(p *Packet, _ Fate) {
		if p.IsData() {
			*sum += int64(len(p.Data) + udpOverhead)
		}
	}
}

const (
	fullEvery  = 2632 * time.Microsecond // 4 Mb/s in messages of 1316 bytes
	slowLink   = 375_000                 // 3 Mb/s
	slowQueue  = 30_000
	stormTime  = 60 * time.Second
	stormCount = int(stormTime / fullEvery)
)

func TestC14SlowLink(t *testing.T) {
	p := NewPair(t, seed(4)).Delay(20 * time.Millisecond)
	cfg := liveConfig(2 * time.Second)
	p.Connect(cfg, cfg)
	var bytes int64
	p.Up.Config.Rate, p.Up.Config.Queue, p.Up.Config.Tap = slowLink, slowQueue, wireBytes(&bytes)
	p.A.Stream(0, fullEvery, stormCount, 1316)
	p.RunFor(stormTime + 3*time.Second)
	source := int64(len(p.A.Sent)) * (1316 + wire.HeaderSize + udpOverhead)
	if bytes*10 > source*13 {
		t.Errorf("%d bytes on the wire for %d of source: factor %.2f", bytes, source, float64(bytes)/float64(source))
	}
	if p.A.Ended() || p.B.Ended() {
		t.Errorf("ended: %v, %v", p.A.Err, p.B.Err)
	}
	wantLossCountedOnce(t, p.B, p.Up)
	Flow{p.A, p.B}.Missing()
	p.Finish(20 * time.Second)
}

// wantLossCountedOnce fails the test unless the receiver counted each number
// that the link lost in its first transmission once, within 1 %.
func wantLossCountedOnce(t *testing.T, s *Session, l *Link) {
	t.Helper()
	distinct, counted := len(l.Counts.LostData), int(s.Stats().RcvLoss.Packets)
	if d := counted - distinct; d*100 > distinct || -d*100 > distinct {
		t.Errorf("%d losses counted, the link lost %d different packets", counted, distinct)
	}
}

// A receiver that reports all its losses every 20 ms, come what may.
func TestC14ReceiverThatNagsEvery20ms(t *testing.T) {
	w, p, h := peerAndHost(t, liveConfig(2*time.Second))
	up := w.Link(h.Addr, p.Addr)
	var bytes int64
	up.Config = LinkConfig{Delay: 20 * time.Millisecond, Rate: slowLink, Queue: slowQueue, Tap: wireBytes(&bytes)}
	w.Link(p.Addr, h.Addr).Config.Delay = 20 * time.Millisecond
	if !p.Connect(2 * time.Second) {
		t.Fatal("no connection")
	}
	n := nag{p: p, have: map[seq.Number]bool{}, next: p.InitSeq, first: p.InitSeq}
	p.OnPacket = n.hear
	w.Every(0, 10*time.Millisecond, int(stormTime/(10*time.Millisecond)), n.ack)
	w.Every(0, 20*time.Millisecond, int(stormTime/(20*time.Millisecond)), n.nak)
	s := h.Accepted[0]
	s.Stream(0, fullEvery, stormCount, 1316)
	for range int(stormTime / time.Second) {
		w.RunFor(time.Second)
		p.Heard = nil
	}
	source := int64(len(s.Sent)) * (1316 + wire.HeaderSize + udpOverhead)
	if bytes*10 > source*13 {
		t.Errorf("%d bytes on the wire for %d of source: factor %.2f", bytes, source, float64(bytes)/float64(source))
	}
	if s.Ended() || len(n.have) < 5000 {
		t.Errorf("ended: %v; %d different packets arrived", s.Ended(), len(n.have))
	}
}

// nag is the receiving half of a scripted receiver that asks again and again.
type nag struct {
	p           *Peer
	have        map[seq.Number]bool
	first, next seq.Number // not yet acknowledged, highest seen + 1
}

func (n *nag) hear(h Heard) {
	if h.IsData() {
		s := h.Seq()
		n.have[s] = true
		if n.next.LessEq(s) {
			n.next = s.Next()
		}
	}
}

func (n *nag) ack(i int) {
	// What is older than the latency is given up, as a live receiver does.
	for n.first.Less(n.next) && (n.have[n.first] || n.next.Sub(n.first) > 750) {
		n.first = n.first.Next()
	}
	a := wire.ACK{Kind: wire.ACKFull, LastAckSeq: n.first, RTTUs: 40000, RTTVarUs: 2000, AvailBufPkts: 8192}
	content := make([]byte, a.Kind.Size())
	a.Put(content)
	n.p.Control(wire.CtrlACK, uint32(i+1), content)
}

func (n *nag) nak(int) {
	var content []byte
	for s := n.first; s.Less(n.next) && len(content) < 1400; s = s.Next() {
		if n.have[s] {
			continue
		}
		r := wire.SeqRange{First: s, Last: s}
		for r.Last.Next().Less(n.next) && !n.have[r.Last.Next()] {
			r.Last = r.Last.Next()
		}
		content = wire.AppendNAKRange(content, r)
		s = r.Last
	}
	if len(content) > 0 {
		n.p.Control(wire.CtrlNAK, 0, content)
	}
}

// Heavy losses on a long path: the periodic reports must not make the sender
// repeat a packet within one round trip.
func TestC14NoRepeatWithinARoundTrip(t *testing.T) {
	p := NewPair(t, seed(9)).Delay(150 * time.Millisecond)
	cfg := liveConfig(2 * time.Second)
	cfg.OverheadBW = 100
	p.Connect(cfg, cfg)
	p.Up.Config.Loss = .1
	last := map[seq.Number]mono.Time{}
	p.Up.Config.Tap = func(pkt *Packet, _ Fate) {
		if !pkt.IsData() || p.Since() < 5*time.Second {
			return
		}
		// From here on the round trip is known.
		if at, ok := last[pkt.Seq()]; ok && wire.IsRexmit(pkt.Data) && pkt.Attempt > 2 && pkt.Sent.Sub(at) < 250*time.Millisecond {
			t.Errorf("seq %d repeated after %v; the round trip takes 300 ms", pkt.Seq(), pkt.Sent.Sub(at))
		}
		last[pkt.Seq()] = pkt.Sent
	}
	p.A.Stream(0, 5*time.Millisecond, 2000, 500)
	p.RunFor(14 * time.Second)
	Flow{p.A, p.B}.WantComplete()
	p.Finish(30 * time.Second)
}
