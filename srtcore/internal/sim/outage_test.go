package sim

import (
	"testing"
	"time"
)

// An outage lasts so long that the sender drops more than the receiver's buffer
// spans: what comes after it lies behind the end of an empty buffer. The stream
// goes on all the same.
func TestOutageLongerThanTheReceiverBuffer(t *testing.T) {
	p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
	cfg := liveConfig(120 * time.Millisecond)
	small := cfg
	small.RcvBufPkts = 64
	p.Connect(cfg, small)
	dead := false
	p.Up.Config.Drop = func(pkt *Packet) bool { return dead && pkt.IsData() }
	p.A.Stream(0, 5*time.Millisecond, 2000, 500)
	p.RunFor(2 * time.Second)
	dead = true
	p.RunFor(3 * time.Second)
	dead = false
	p.RunFor(6 * time.Second)
	missing := Flow{p.A, p.B}.Missing()
	if len(missing) > 700 {
		t.Errorf("%d messages missing after an outage of 600", len(missing))
	}
	Flow{p.A, p.B}.WantStats(len(missing))
	p.Finish(20 * time.Second)
}
