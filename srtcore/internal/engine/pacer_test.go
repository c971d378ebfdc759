package engine

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

func TestPacerBandwidth(t *testing.T) {
	cases := []struct {
		name                 string
		maxBW, in, minIn, ms int64
		overhead             int
		want                 int64
	}{
		{"unlimited", -1, 0, 0, 0, 25, unlimitedBW},
		{"fixed", 1_000_000, 0, 0, 0, 25, 1_000_000},
		{"input given", 0, 1_000_000, 0, 0, 25, 1_250_000},
		{"input measured", 0, 0, 0, 2_000_000, 50, 3_000_000},
		{"least input", 0, 0, 4_000_000, 2_000_000, 25, 5_000_000},
		{"nothing measured yet", 0, 0, 0, 0, 25, unlimitedBW},
	}
	for _, tc := range cases {
		p := pacer{maxBW: tc.maxBW, inputBW: tc.in, minInputBW: tc.minIn, measured: tc.ms, overhead: tc.overhead}
		if got := p.bandwidth(); got != tc.want {
			t.Errorf("%s: %d bytes/s, want %d", tc.name, got, tc.want)
		}
	}
}

// TestPacerRate sends as fast as the pacer lets, from a loop that wakes every
// millisecond, and compares with the bandwidth.
func TestPacerRate(t *testing.T) {
	var p pacer
	p.init(&Config{MaxBW: 1_360_000, OverheadBW: 25})
	sent := 0
	start := mono.Time(time.Second)
	for now := start; now < start.Add(time.Second); now = now.Add(time.Millisecond) {
		for p.due(now) {
			p.sent(now, 1316)
			sent++
		}
	}
	if sent < 995 || sent > 1010 {
		t.Fatalf("%d packets of 1360 bytes in a second, want about 1000", sent)
	}
}

// feed hands in 100 packets of 1316 bytes a second for d and returns the end.
func feed(p *pacer, now mono.Time, d time.Duration) mono.Time {
	for end := now.Add(d); now < end; now = now.Add(10 * time.Millisecond) {
		p.input(now, 1316)
	}
	return now
}

// A pause of the input is not a lower rate: what follows it may go as before.
func TestPacerKeepsTheInputRateOverAPause(t *testing.T) {
	var p pacer
	p.init(&Config{OverheadBW: 25})
	now := feed(&p, mono.Time(time.Second), 5*time.Second)
	before := p.bandwidth()
	if want := int64(136000 * 125 / 100); before < want*99/100 || before > want*101/100 {
		t.Fatalf("%d bytes/s, want about %d", before, want)
	}
	now = now.Add(time.Minute)
	p.input(now, 1316)
	if got := p.bandwidth(); got < before*99/100 {
		t.Errorf("%d bytes/s after a pause, %d before", got, before)
	}
}

// An input that grows is followed at the next measurement: until then packets
// queue, and in live mode they are late.
func TestPacerFollowsARisingInputAtOnce(t *testing.T) {
	var p pacer
	p.init(&Config{OverheadBW: 25})
	now := feed(&p, mono.Time(time.Second), 3*time.Second)
	for end := now.Add(2*inputWindow + 20*time.Millisecond); now < end; now = now.Add(time.Millisecond) {
		p.input(now, 1316)
	}
	if got, want := p.bandwidth(), int64(1360_000*125/100); got < want*95/100 {
		t.Errorf("%d bytes/s a second after the input rose to %d", got, want*100/125)
	}
}
