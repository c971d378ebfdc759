package engine

import "testing"

// The peer's receiving rate is its highest, smoothed: neither a burst at the
// beginning nor the stream's end changes it much.
func TestPeerRateIsTheHighest(t *testing.T) {
	var c counters
	for _, x := range []struct {
		n    int
		rate uint32
	}{{1, 2_000_000}, {20, 0}, {200, 250_000}, {100, 10_000}} {
		for range x.n {
			c.learnPeerRate(x.rate)
		}
	}
	if c.peerRate < 230_000 || c.peerRate > 300_000 {
		t.Errorf("%d bytes/s, want about 250,000", c.peerRate)
	}
}
