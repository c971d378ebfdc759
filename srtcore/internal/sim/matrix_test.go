package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// A stage is one random combination of network, options and traffic.
type stage struct {
	up, down         LinkConfig
	caller, listener engine.Config
	tick             time.Duration

	n        int
	every    time.Duration
	size     int
	downward bool // the listener sends too

	moderate bool // mild enough, for this latency, that nothing may be missing
	what     string
}

// newStage draws a stage. Latency is a multiple of the round trip, so that
// repair has a chance; moderate stages have plenty of it.
func newStage(r *rand.Rand) *stage {
	s := &stage{caller: engine.DefaultConfig(), n: 60 + r.IntN(140)}
	s.every = time.Duration(1+r.IntN(10)) * time.Millisecond
	s.size = 100 + r.IntN(1217)
	s.downward = r.IntN(2) == 0
	delay := func() time.Duration { return time.Duration(1+r.IntN(60)) * time.Millisecond }
	s.up.Delay = delay()
	s.down.Delay = s.up.Delay
	if r.IntN(3) == 0 {
		s.down.Delay = delay() // asymmetric
	}
	s.drawNetwork(r)
	s.drawOptions(r)
	if r.IntN(4) == 0 {
		s.tick = time.Millisecond
	}
	s.what = fmt.Sprintf("n %d every %v size %d moderate %v", s.n, s.every, s.size, s.moderate)
	return s
}

func (s *stage) drawNetwork(r *rand.Rand) {
	loss := 0.0
	switch r.IntN(6) {
	case 0: // clean
		s.moderate = true
	case 1:
		loss, s.moderate = .05*r.Float64(), true
	case 2:
		loss = .05 + .25*r.Float64()
	case 3:
		b := &Burst{GoodToBad: .01, BadToGood: .2, LossBad: .5 + .5*r.Float64()}
		s.up.Burst = b
		if s.downward {
			s.down.Burst = b
		}
	case 4:
		s.up.Reorder, s.up.ReorderBy = .1*r.Float64(), 1+r.IntN(4)
		s.up.Jitter = time.Duration(r.IntN(5)+1) * time.Millisecond
		s.moderate = true
	case 5:
		s.up.Duplicate, s.down.Duplicate = .2*r.Float64(), .2*r.Float64()
		loss, s.moderate = .03*r.Float64(), true
	}
	s.up.Loss, s.down.Loss = loss, loss
}

func (s *stage) drawOptions(r *rand.Rand) {
	c := &s.caller
	rtt := s.up.Delay + s.down.Delay + s.up.Jitter
	if s.moderate {
		c.RcvLatency = 400*time.Millisecond + 8*rtt
	} else {
		c.RcvLatency = 40*time.Millisecond + time.Duration(1+r.IntN(6))*rtt
	}
	c.OverheadBW = 100
	if r.IntN(4) == 0 {
		c.InitSeq, c.ForceInitSeq = seq.Max.Add(-1-r.IntN(100)), true
	}
	if r.IntN(4) == 0 {
		c.TimestampBase = -wire.Timestamp(r.IntN(2_000_000) + 1)
	}
	if r.IntN(3) == 0 {
		c.LossMaxTTL = r.IntN(8)
	}
	if r.IntN(5) == 0 {
		c.NAKReport = false
	}
	if r.IntN(5) == 0 {
		c.RetransmitAlgo = 0
	}
	c.ConnTimeout = 20 * time.Second
	if r.IntN(2) == 0 {
		c.Passphrase, c.PBKeyLen = secret, []int{16, 24, 32}[r.IntN(3)]
		c.KMRefresh = 40 + r.IntN(100)
		c.KMPreAnn = 5 + r.IntN(c.KMRefresh/2-5)
	}
	c.TLPktDrop = r.IntN(3) != 0
	s.listener = *c
	s.listener.ForceInitSeq = false
	if r.IntN(4) == 0 {
		s.drawLimits(r)
	}
}

// drawLimits narrows something: the link, the buffers or the bandwidth.
func (s *stage) drawLimits(r *rand.Rand) {
	source := int64(s.size+44) * int64(time.Second) / int64(s.every)
	switch r.IntN(5) {
	case 0:
		s.up.Rate, s.up.Queue = source/2+source*int64(r.IntN(100))/100, int64(3000+r.IntN(60000))
	case 1: // too small for the latency, perhaps
		s.listener.RcvBufPkts = 32 + r.IntN(200)
	case 2:
		s.caller.MaxBW = source/2 + source*int64(r.IntN(150))/100
	case 3:
		s.caller.OverheadBW = 5 + r.IntN(20)
	case 4:
		s.caller.SndBufPkts = 32 + r.IntN(100)
	}
	s.moderate = false
}

// run plays the stage to its end and checks everything that always holds.
func (s *stage) run(t *testing.T, seed uint64) {
	p := NewPair(t, seed)
	p.Tick = s.tick
	p.MaxTime = 2 * time.Minute
	p.Up.Config, p.Down.Config = s.up, s.down
	p.Connect(s.caller, s.listener)
	p.A.Stream(0, s.every, s.n, s.size)
	flows := []Flow{{p.A, p.B}}
	if s.downward {
		p.B.Stream(0, s.every, s.n, s.size)
		flows = append(flows, Flow{p.B, p.A})
	}
	p.RunFor(time.Duration(s.n)*s.every + 10*time.Millisecond)
	if s.downward {
		// Closing stops receiving, so both ends have to be done first.
		p.RunFor(p.A.Conn.RcvLatency() + 2*time.Second)
	}
	p.A.Close()
	if !p.RunUntil(time.Minute, func() bool { return p.A.Ended() && p.B.Ended() }) {
		t.Errorf("not over a minute after closing: caller %v, listener %v", p.A.Ended(), p.B.Ended())
	}
	for _, f := range flows {
		f.wantConsistent(t, s)
	}
	p.WantEnd(time.Second)
	if t.Failed() {
		t.Logf("stage: %s\nup %+v\ndown %+v\ncaller %+v", s.what, s.up, s.down, s.caller)
	}
}

// wantConsistent checks what holds on any network, and that nothing is missing
// where the network is mild.
func (f Flow) wantConsistent(t *testing.T, s *stage) {
	missing := f.Missing()
	if s.moderate && len(missing) > 0 {
		t.Errorf("%d of %d missing on a mild network: %v", len(missing), len(f.From.Sent), missing)
	}
	if f.To.Stats().NoRoom == 0 {
		f.WantOnTime()
	} else {
		f.WantNotEarly()
	}
	f.WantStats(len(missing))
}

func TestSeededNetworks(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 100
	}
	for _, seed := range seeds(1, n) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			newStage(rand.New(rand.NewPCG(seed, 42))).run(t, seed)
		})
	}
}

// The same seed must give the same run, or no failure could be replayed.
func TestRunsAreReproducible(t *testing.T) {
	run := func() (log []string) {
		s := newStage(rand.New(rand.NewPCG(77, 42)))
		s.up.Loss, s.down.Loss = .1, .1
		p := NewPair(t, 77)
		p.Up.Config, p.Down.Config = s.up, s.down
		tap := func(pkt *Packet, f Fate) { log = append(log, fmt.Sprintf("%d %d %x", pkt.Sent, f, pkt.Data)) }
		p.Up.Config.Tap, p.Down.Config.Tap = tap, tap
		p.Connect(s.caller, s.listener)
		p.A.Stream(0, s.every, s.n, s.size)
		p.RunFor(3 * time.Second)
		return log
	}
	a, b := run(), run()
	if len(a) != len(b) {
		t.Fatalf("%d datagrams, then %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("datagram %d differs:\n%s\n%s", i, a[i], b[i])
		}
	}
}
