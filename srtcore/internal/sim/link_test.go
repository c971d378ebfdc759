package sim

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// seedFlag replays one run of a test that tries many.
var seedFlag = flag.Uint64("sim.seed", 0, "run the simulations with this seed only")

// seeds returns first, first+1 ... or the one the command line asks for.
func seeds(first uint64, n int) []uint64 {
	if *seedFlag != 0 {
		return []uint64{*seedFlag}
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = first + uint64(i)
	}
	return out
}

// seed returns def or the one the command line asks for.
func seed(def uint64) uint64 { return seeds(def, 1)[0] }

func testLink(cfg LinkConfig, seed uint64) *Link {
	return newLink(cfg, rand.New(rand.NewPCG(seed, 1)))
}

func dataPacket(n seq.Number, size int) []byte {
	b := make([]byte, wire.HeaderSize+size)
	wire.DataHeader{Seq: n, PP: wire.PPSolo, MsgNo: 1, Dest: 1}.Put(b)
	return b
}

// through sends n data packets 1 ms apart and returns the arrivals, in order.
func through(l *Link, n, size int) (got []seq.Number, at []mono.Time) {
	now := mono.Time(0)
	take := func(until mono.Time) {
		for next := l.next(); next <= until; next = l.next() {
			for d := l.receive(next); d != nil; d = l.receive(next) {
				got, at = append(got, wire.DataSeq(d)), append(at, next)
			}
		}
	}
	for i := range n {
		now = mono.Time(i) * mono.Time(time.Millisecond)
		take(now)
		l.send(now, dataPacket(seq.Number(i), size))
	}
	take(mono.Never - 1)
	return got, at
}

func TestPerfectLink(t *testing.T) {
	got, at := through(testLink(LinkConfig{Delay: 20 * time.Millisecond}, 1), 100, 100)
	for i, n := range got {
		if int(n) != i || at[i] != mono.Time(time.Duration(i+20)*time.Millisecond) {
			t.Fatalf("packet %d: got %d at %v", i, n, time.Duration(at[i]))
		}
	}
	if len(got) != 100 {
		t.Fatalf("%d packets of 100", len(got))
	}
}

func TestLinkIsTheSameTwice(t *testing.T) {
	cfg := LinkConfig{Loss: .1, Jitter: 5 * time.Millisecond, Reorder: .1, Duplicate: .1,
		Burst: &Burst{.01, .2, .8}}
	a, _ := through(testLink(cfg, 7), 1000, 10)
	b, _ := through(testLink(cfg, 7), 1000, 10)
	c, _ := through(testLink(cfg, 8), 1000, 10)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("a seed must give the same run, another seed another run")
	}
}

func TestUniformLoss(t *testing.T) {
	got, _ := through(testLink(LinkConfig{Loss: .2}, 1), 10000, 10)
	if n := 10000 - len(got); n < 1800 || n > 2200 {
		t.Errorf("%d of 10000 lost at 20 %%", n)
	}
}

func TestBurstLoss(t *testing.T) {
	l := testLink(LinkConfig{Burst: &Burst{GoodToBad: .01, BadToGood: .1, LossBad: 1}}, 1)
	got, _ := through(l, 20000, 10)
	bursts, lost := 0, 20000-len(got)
	for i := 1; i < len(got); i++ {
		if got[i] != got[i-1].Next() {
			bursts++
		}
	}
	// On average 10 packets a burst, 1 packet in 11 lost.
	if mean := float64(lost) / float64(bursts); mean < 7 || mean > 13 || lost < 1200 || lost > 2500 {
		t.Errorf("%d lost in %d bursts", lost, bursts)
	}
}

func TestReorderHoldsBack(t *testing.T) {
	l := testLink(LinkConfig{Delay: time.Millisecond}, 1)
	l.Config.Reorder, l.Config.ReorderBy = 1, 3
	l.send(0, dataPacket(0, 10))
	l.Config.Reorder = 0
	got, _ := through(l, 5, 10)
	if want := []seq.Number{0, 1, 2, 0, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// Nothing follows: it goes on by itself.
	l.Config.Reorder = 1
	now := mono.Time(time.Second)
	l.send(now, dataPacket(9, 10))
	if at := l.next(); at != now.Add(holdLimit) || l.receive(at) == nil {
		t.Errorf("a held packet that nothing follows is due at %v", at)
	}
}

func TestDuplicates(t *testing.T) {
	got, _ := through(testLink(LinkConfig{Duplicate: .5}, 1), 1000, 10)
	if len(got) < 1400 || len(got) > 1600 {
		t.Errorf("%d arrivals of 1000 packets with 50 %% copies", len(got))
	}
}

func TestRateAndQueue(t *testing.T) {
	// 1000 bytes/s in packets of 100 on the wire, one a millisecond: the queue
	// holds 500 bytes, so five go through at once and then one each 100 ms.
	l := testLink(LinkConfig{Rate: 1000, Queue: 500}, 1)
	got, at := through(l, 1000, 100-udpOverhead-wire.HeaderSize)
	if len(got) < 14 || len(got) > 16 {
		t.Fatalf("%d packets passed", len(got))
	}
	for i := 1; i < len(at); i++ {
		if d := at[i].Sub(at[i-1]); d < 100*time.Millisecond {
			t.Fatalf("packets %v apart", d)
		}
	}
	if l.Counts.Lost != 1000-uint64(len(got)) {
		t.Errorf("%d counted as lost", l.Counts.Lost)
	}
}

func TestDatagramCap(t *testing.T) {
	l := testLink(LinkConfig{MaxSize: 500}, 1)
	l.send(0, make([]byte, 500))
	l.send(0, make([]byte, 501))
	if l.receive(0) == nil || l.receive(0) != nil {
		t.Error("500 bytes pass, 501 do not")
	}
}

func TestDropRuleSeesAttempts(t *testing.T) {
	l := testLink(LinkConfig{Drop: func(p *Packet) bool { return p.IsData() && p.Seq() == 5 && p.Attempt < 3 }}, 1)
	for range 3 {
		l.send(0, dataPacket(4, 10))
		l.send(0, dataPacket(5, 10))
	}
	n := map[seq.Number]int{}
	for d := l.receive(0); d != nil; d = l.receive(0) {
		n[wire.DataSeq(d)]++
	}
	if n[4] != 3 || n[5] != 1 || l.Counts.LostData[5] != 2 {
		t.Errorf("arrived %v, lost %v", n, l.Counts.LostData)
	}
}

func TestPayloadsAreNumbered(t *testing.T) {
	b := Payload(77, 1316)
	if i, ok := Index(b); i != 77 || !ok || len(b) != 1316 {
		t.Fatalf("index %d, %v", i, ok)
	}
	b[900] ^= 1
	if _, ok := Index(b); ok {
		t.Error("an altered byte went unseen")
	}
}
