package sim

import (
	"testing"
	"time"
)

// An application that does not read for longer than half a turn of the time
// stamp (35 min 47 s) gets everything when it reads on, at once and in order.
func TestReaderPausesForAnHour(t *testing.T) {
	p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
	p.MaxTime = 3 * time.Hour
	cfg := liveConfig(120 * time.Millisecond)
	p.Connect(cfg, cfg)
	p.A.Stream(0, time.Second, 4000, 100)
	p.RunFor(10 * time.Second)
	p.B.Paused = true
	p.RunFor(time.Hour)
	p.B.Paused = false
	p.RunFor(50 * time.Millisecond)
	if n := len(p.B.Received); n < 3600 {
		t.Errorf("%d messages of 3600 when reading on", n)
	}
	p.RunFor(10 * time.Minute)
	Flow{p.A, p.B}.WantComplete()
	for i, r := range p.B.Received {
		if want := p.A.Sent[i].Origin.Add(10 * time.Millisecond); absDiff(r.Source.Sub(want)) > 15*time.Millisecond {
			t.Fatalf("message %d: source time %v off", i, r.Source.Sub(want))
		}
	}
	p.Finish(20 * time.Second)
}

func absDiff(d time.Duration) time.Duration { return max(d, -d) }

// An application pauses for so long that the sender drops messages it could not
// even send, because the window was closed. When it reads on, the stream does.
func TestReaderPausesBeyondTheSendersPatience(t *testing.T) {
	for _, size := range []int{32, 64, 500} {
		p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
		cfg := liveConfig(120 * time.Millisecond)
		small := cfg
		small.RcvBufPkts = size
		p.Connect(cfg, small)
		p.A.Stream(0, 5*time.Millisecond, 3000, 500)
		p.RunFor(2 * time.Second)
		p.B.Paused = true
		p.RunFor(6 * time.Second)
		p.B.Paused = false
		p.RunFor(2 * time.Second)
		n := len(p.B.Received)
		p.RunFor(time.Second)
		if got := len(p.B.Received) - n; got < 190 {
			t.Errorf("buffer of %d: %d messages in a second after the pause, want about 200", size, got)
		}
		p.RunFor(6 * time.Second)
		missing := Flow{p.A, p.B}.Missing()
		Flow{p.A, p.B}.WantStats(len(missing))
		p.Finish(20 * time.Second)
	}
}
