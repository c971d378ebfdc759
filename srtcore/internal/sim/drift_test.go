package sim

import (
	"fmt"
	"testing"
	"time"
)

// The clocks of two machines do not agree. Over minutes the play times follow
// the sender's clock, so that the buffer neither runs dry nor fills (draft
// section 4.7).
func TestDriftIsFollowed(t *testing.T) {
	for _, ppm := range []int64{200, -200, 50} {
		t.Run(fmt.Sprintf("%d ppm", ppm), func(t *testing.T) {
			p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
			p.Caller.SkewPPM = ppm
			cfg := liveConfig(120 * time.Millisecond)
			p.Connect(cfg, cfg)
			const every, n = 20 * time.Millisecond, 12000 // four minutes
			p.A.Stream(0, every, n, 100)
			p.RunFor(n*every + time.Second)
			Flow{p.A, p.B}.WantComplete()
			// The sender's clock gains ppm a second: 48 ms by the end at 200.
			// Without correction that would be the error; the tracer works in
			// steps of a thousand samples.
			delays := Flow{p.A, p.B}.Delays()
			for i, d := range delays {
				if off := d - 130*time.Millisecond; off.Abs() > 9*time.Millisecond {
					t.Fatalf("message %d took %v", i, d)
				}
			}
			if d := p.B.Stats().Drift; d.Abs() > 6*time.Millisecond {
				t.Errorf("drift of %v left beside the base", d)
			}
			p.Finish(20 * time.Second)
		})
	}
}

func TestDriftTracerOff(t *testing.T) {
	p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
	p.Caller.SkewPPM = 200
	cfg := liveConfig(120 * time.Millisecond)
	cfg.DriftTracer = false
	p.Connect(cfg, cfg)
	p.A.Stream(0, 20*time.Millisecond, 3000, 100)
	p.RunFor(61 * time.Second)
	delays := Flow{p.A, p.B}.Delays()
	// 60 s at 200 ppm: the stamps are 12 ms ahead.
	if d := delays[len(delays)-1] - 142*time.Millisecond; d.Abs() > time.Millisecond {
		t.Errorf("the last message took %v", delays[len(delays)-1])
	}
	p.Finish(20 * time.Second)
}
