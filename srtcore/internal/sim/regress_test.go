package sim

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// Every fault that a simulation found stays here, as the script that shows it.

// On a path without delay the ACK for which no ACKACK came yet is repeated no
// sooner than the ACK period.
func TestACKRepeatsKeepThePeriod(t *testing.T) {
	p := NewPair(t, 1)
	acks := 0
	p.Down.Config.Tap = func(pkt *Packet, _ Fate) {
		if c, ok := pkt.Control(); ok && c == wire.CtrlACK {
			acks++
		}
	}
	cfg := liveConfig(120 * time.Millisecond)
	p.Connect(cfg, cfg)
	p.A.Stream(0, 500*time.Microsecond, 2000, 100)
	p.RunFor(2 * time.Second)
	if acks < 90 || acks > 110 {
		t.Errorf("%d ACKs for a second of traffic", acks)
	}
	// The peer never answers: still no more than one each period.
	w, peer, _ := peerAndHost(t, cfg)
	peer.Connect(120 * time.Millisecond)
	peer.stream(0, 5*time.Millisecond, 200, 100, nil)
	w.RunFor(1100 * time.Millisecond)
	if n := peer.Count(wire.CtrlACK); n > 111 {
		t.Errorf("%d ACKs to a peer that answers none", n)
	}
}

// A new key is not announced into a slot whose old key may still be needed for
// a retransmission, however short the refresh period is against the latency.
func TestRefreshWaitsForTheOldKeysPackets(t *testing.T) {
	p := NewPair(t, seed(3)).Delay(40 * time.Millisecond)
	cfg := secretConfig(time.Second, 16)
	cfg.KMRefresh, cfg.KMPreAnn, cfg.OverheadBW = 20, 9, 100
	p.Connect(cfg, cfg)
	p.Up.Config.Drop = func(pkt *Packet) bool {
		return pkt.IsData() && pkt.Seq()%50 == 0 && pkt.Attempt < 4
	}
	p.A.Stream(0, 2*time.Millisecond, 1000, 200)
	p.RunFor(5 * time.Second)
	Flow{p.A, p.B}.WantComplete()
	p.Finish(20 * time.Second)
}

// Without periodic NAKs a lost NAK, or a lost retransmission, is made good by
// the sender's own timer, while the stream goes on.
func TestLostNAKWithoutPeriodicReports(t *testing.T) {
	p := NewPair(t, seed(3)).Delay(20 * time.Millisecond)
	cfg := liveConfig(500 * time.Millisecond)
	cfg.NAKReport = false
	p.Connect(cfg, cfg)
	p.Up.Config.Drop = func(pkt *Packet) bool {
		return pkt.IsData() && pkt.Seq() == p.A.initSeq.Add(50) && pkt.Attempt == 1
	}
	p.Down.Config.Drop = func(pkt *Packet) bool {
		c, ok := pkt.Control()
		return ok && c == wire.CtrlNAK
	}
	p.A.Stream(0, 5*time.Millisecond, 400, 500)
	p.RunFor(4 * time.Second)
	Flow{p.A, p.B}.WantComplete()
	p.Finish(20 * time.Second)
}

// A sender that has used up its retransmission budget and has nothing new to
// send can still repair the end of the stream.
func TestTailIsRepairedWithoutBudget(t *testing.T) {
	p := NewPair(t, seed(3)).Delay(20 * time.Millisecond)
	cfg := liveConfig(3 * time.Second)
	cfg.NAKReport, cfg.OverheadBW = false, 5
	p.Connect(cfg, cfg)
	var from seq.Number
	dead := false
	p.Up.Config.Drop = func(pkt *Packet) bool { return dead && pkt.IsData() }
	p.A.Stream(0, 5*time.Millisecond, 300, 1316)
	p.RunFor(time.Second)
	from, dead = p.A.initSeq.Add(len(p.A.Sent)), true
	p.RunFor(1500 * time.Millisecond)
	dead = false
	p.RunFor(5 * time.Second)
	if m := (Flow{p.A, p.B}).Missing(); len(m) > 60 {
		t.Errorf("%d messages missing from %d on", len(m), from)
	}
	if n := len(p.B.Received); n == 0 || p.B.Received[n-1].Seq != p.A.initSeq.Add(299) {
		t.Error("the last message did not come")
	}
	p.Finish(20 * time.Second)
}

// A stamp far in the future neither holds up what comes behind it nor keeps the
// connection after the peer's end.
func TestStampFarAhead(t *testing.T) {
	w, p, h := peerAndHost(t, liveConfig(120*time.Millisecond))
	p.AnswerACK = true
	if !p.Connect(120 * time.Millisecond) {
		t.Fatal("no connection")
	}
	begin := w.Now
	w.Every(0, 10*time.Millisecond, 100, func(i int) {
		stamp := p.Stamp()
		if i == 50 {
			stamp += wire.Timestamp((20 * time.Minute).Microseconds())
		}
		p.Data(i, stamp, false, Payload(uint32(i), 200))
	})
	w.After(1100*time.Millisecond, func() { p.Control(wire.CtrlShutdown, 0, make([]byte, 4)) })
	w.RunFor(3 * time.Second)
	s := h.Accepted[0]
	wantIndexes(t, s, 100, nil)
	wantPeerDelays(t, s, begin, 10*time.Millisecond, 120*time.Millisecond)
	if !s.Ended() {
		t.Error("the connection is still there")
	}
}

// Over a path of four seconds there and back the round trip is measured, and
// losses are repaired.
func TestVeryLongRoundTrip(t *testing.T) {
	p := NewPair(t, seed(1)).Delay(2 * time.Second)
	cfg := liveConfig(20 * time.Second)
	cfg.ConnTimeout, cfg.PeerIdle = 30*time.Second, 20*time.Second
	p.Connect(cfg, cfg)
	p.A.Stream(0, 7*time.Millisecond, 4000, 500)
	p.RunFor(15 * time.Second)
	for _, s := range []*Session{p.A, p.B} {
		if rtt := s.Stats().RTT; rtt < 3900*time.Millisecond || rtt > 4300*time.Millisecond {
			t.Errorf("round trip of %v, want 4 s", rtt)
		}
	}
	p.Up.Config.Loss = 0.01
	p.RunFor(40 * time.Second)
	Flow{p.A, p.B}.WantComplete()
	p.Finish(60 * time.Second)
}
