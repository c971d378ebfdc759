package sim

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// With a play grid messages come in groups, up to the grid early and never
// late, whatever is lost and repaired on the way.
func TestPlayGridGroupsMessages(t *testing.T) {
	const grid, every, n = 5 * time.Millisecond, time.Millisecond, 5000
	p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
	p.Up.Config.Loss = .02
	cfg := liveConfig(120 * time.Millisecond)
	cfg.PlayGrid = grid
	p.Connect(cfg, cfg)
	p.A.Stream(0, every, n, 200)
	p.RunFor(n*every + time.Second)
	Flow{p.A, p.B}.WantComplete()
	groups := map[mono.Time]bool{}
	for i, r := range p.B.Received {
		early := p.B.playTime(r.Seq).Sub(r.At)
		if early < -slack || early >= grid+slack {
			t.Fatalf("message %d comes %v before its play time", i, early)
		}
		groups[r.At] = true
	}
	if most := int(n*every/grid) + 2; len(groups) > most {
		t.Errorf("%d groups, want at most %d", len(groups), most)
	}
	p.Finish(20 * time.Second)
}

// What is behind a hole waits as long as without a grid: the lost packet has
// the whole latency to come again.
func TestPlayGridLeavesHolesTheirTime(t *testing.T) {
	for _, grid := range []time.Duration{0, 20 * time.Millisecond} {
		p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
		cfg := liveConfig(120 * time.Millisecond)
		cfg.PlayGrid = grid
		p.Connect(cfg, cfg)
		const lost, n = 50, 100
		p.Up.Config.Drop = func(pkt *Packet) bool { return pkt.IsData() && pkt.Seq() == p.A.initSeq.Add(lost) }
		p.A.Stream(0, 10*time.Millisecond, n, 200)
		p.RunFor(n*10*time.Millisecond + time.Second)
		if len(p.B.Received) != n-1 {
			t.Fatalf("grid %v: %d messages of %d", grid, len(p.B.Received), n-1)
		}
		behind := p.B.Received[lost]
		if off := behind.At.Sub(p.B.playTime(behind.Seq)); off.Abs() > slack {
			t.Errorf("grid %v: the packet behind the hole comes %v after its play time", grid, off)
		}
		p.Finish(20 * time.Second)
	}
}
