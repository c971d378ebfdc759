package sim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A connection that went through outages and pauses of any kind works as before
// once they are over: nothing may get stuck.
func TestConnectionsRecover(t *testing.T) {
	for _, n := range seeds(1, 80) {
		recoverOnce(t, n)
	}
}

const (
	recoveryPace = 5 * time.Millisecond // between messages
	// believing is how many packets a receiver that was left behind may refuse.
	believing = 16
)

func recoverOnce(t *testing.T, n uint64) {
	r := rand.New(rand.NewPCG(n, 99))
	s := newStage(r)
	// Room for the stream, and little more.
	room := int((s.caller.RcvLatency + 2*(s.up.Delay+s.down.Delay)) / recoveryPace)
	s.listener.RcvBufPkts = room + 32 + r.IntN(300)
	if r.IntN(3) == 0 {
		s.caller.SndBufPkts = room + 32 + r.IntN(300)
	}
	if r.IntN(4) == 0 {
		s.caller.SndDropDelay = -1
	}
	s.caller.MaxBW = -1
	p := NewPair(t, n)
	p.MaxTime = time.Hour
	p.Up.Config.Delay, p.Down.Config.Delay = s.up.Delay, s.down.Delay
	p.Connect(s.caller, s.listener)
	const trouble = 12 * time.Second
	p.A.Stream(0, recoveryPace, int(trouble/recoveryPace), s.size)
	for at := time.Duration(0); at < trouble-4*time.Second; at += time.Duration(r.Int64N(int64(3 * time.Second))) {
		d := time.Duration(r.Int64N(int64(4 * time.Second)))
		p.After(at, func() { hamper(r, p, d) })
	}
	p.RunFor(trouble)
	p.Up.Config.Drop, p.Down.Config.Drop, p.B.Paused = nil, nil, false
	p.RunFor(5*time.Second + p.B.Conn.RcvLatency())
	if p.A.Ended() || p.B.Ended() {
		return // nothing was heard for five seconds
	}
	before, first := len(p.A.Sent), len(p.B.Received)
	p.A.Stream(0, recoveryPace, 200, s.size)
	p.RunFor(time.Second + 4*s.up.Delay + p.B.Conn.RcvLatency() + 500*time.Millisecond)
	fresh := len(p.A.Sent) - before
	if got := len(p.B.Received) - first; fresh < 200 || got < 200-believing {
		t.Errorf("seed %d: %d of 200 taken, %d delivered after the trouble", n, fresh, got)
		t.Logf("buffer %d, caller %+v\nsender %+v\nreceiver %+v", s.listener.RcvBufPkts, s.caller, p.A.Stats(), p.B.Stats())
	}
	Flow{p.A, p.B}.Missing() // order and content
	p.A.Abort()
	p.B.Abort()
	p.WantEnd(time.Second)
}

// hamper does something bad for d.
func hamper(r *rand.Rand, p *Pair, d time.Duration) {
	lose := func(*Packet) bool { return true }
	switch r.IntN(4) {
	case 0:
		p.Up.Config.Drop = lose
		p.After(d, func() { p.Up.Config.Drop = nil })
	case 1:
		p.Down.Config.Drop = lose
		p.After(d, func() { p.Down.Config.Drop = nil })
	case 2:
		p.B.Paused = true
		p.After(2*d, func() { p.B.Paused = false })
	case 3:
		p.Up.Config.Drop = func(*Packet) bool { return r.IntN(3) == 0 }
		p.After(d, func() { p.Up.Config.Drop = nil })
	}
}
