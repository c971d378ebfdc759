package engine

import (
	"testing"
	"time"
)

// What a loop finds late counts as of when it came: the time base of a
// connection, and round trips.
func TestArrivalCountsNotTheTurn(t *testing.T) {
	const lag = 400 * time.Microsecond
	prompt, late := newWirePair(t, DefaultConfig()), newLatePair(t, DefaultConfig(), lag)
	for i, side := range []string{"caller", "listener"} {
		if d := prompt.conns[i].rcv.tsbpd.base.Sub(late.conns[i].rcv.tsbpd.base); d != lag {
			t.Errorf("%s: the time base of a handshake found %v late differs by %v", side, lag, d)
		}
	}
	for range 100 {
		prompt.send(1)
		prompt.turn()
		late.send(1)
		late.turn()
	}
	a, b := prompt.conns[1].rtt, late.conns[1].rtt
	if !a.sampled || a.smoothed-b.smoothed != lag {
		t.Errorf("round trip of %v, its end found %v late: %v", a.smoothed, lag, b.smoothed)
	}
}
