package sim

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/wire"
)

// acksOf counts the ACKs for n messages, one every period, after the first
// second, and the longest wait for one.
func acksOf(t *testing.T, cfg engine.Config, every time.Duration, n int) int {
	p := NewPair(t, seed(1)).Delay(5 * time.Millisecond)
	acks := 0
	p.Down.Config.Tap = func(pkt *Packet, _ Fate) {
		if c, ok := pkt.Control(); ok && c == wire.CtrlACK {
			acks++
		}
	}
	p.Connect(cfg, cfg)
	p.A.Stream(0, every, n, 100)
	p.RunFor(time.Duration(n)*every + time.Second)
	Flow{p.A, p.B}.WantComplete()
	p.Finish(20 * time.Second)
	return acks
}

// A thin stream's ACKs come every 40 ms while its packets keep coming, those of
// a thick one every 10, and so do a thin one's if the receiver sends no periodic
// NAKs.
func TestThinStreamsAreAcknowledgedLessOften(t *testing.T) {
	cfg := liveConfig(120 * time.Millisecond)
	const secs = 10
	for _, x := range []struct {
		name     string
		every    time.Duration
		nak      bool
		min, max int
	}{
		{"120 packets a second", 8333 * time.Microsecond, true, 25 * secs, 29 * secs},
		{"1000", time.Millisecond, true, 48 * secs, 54 * secs},
		{"2000", 500 * time.Microsecond, true, 97 * secs, 103 * secs},
		{"10", 100 * time.Millisecond, true, 9 * secs, 11 * secs},
		{"120, no periodic NAKs", 8333 * time.Microsecond, false, 97 * secs, 103 * secs},
	} {
		cfg.NAKReport = x.nak
		n := int(secs * time.Second / x.every)
		if acks := acksOf(t, cfg, x.every, n); acks < x.min || acks > x.max {
			t.Errorf("%s: %d ACKs in %d s, want %d..%d", x.name, acks, secs, x.min, x.max)
		}
	}
}

// What comes last is acknowledged within two points of the grid.
func TestThinStreamsEndIsAcknowledgedSoon(t *testing.T) {
	p := NewPair(t, seed(1))
	cfg := liveConfig(120 * time.Millisecond)
	p.Connect(cfg, cfg)
	const n, every = 200, 8333 * time.Microsecond
	p.A.Stream(0, every, n, 100)
	p.RunFor((n-1)*every + 21*time.Millisecond)
	if left := p.A.Conn.Unacked(); left != 0 {
		t.Errorf("%d packets unacknowledged 21 ms after the last", left)
	}
	p.Finish(20 * time.Second)
}
