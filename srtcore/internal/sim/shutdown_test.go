package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/wire"
)

// A SHUTDOWN that overtakes the last packets on its way does not lose them, even
// when nothing else is held at that moment.
func TestShutdownOvertakesTheLastPackets(t *testing.T) {
	for _, latency := range []time.Duration{0, 120 * time.Millisecond} {
		w, p, h := peerAndHost(t, liveConfig(latency))
		if !p.Connect(latency) {
			t.Fatal("no connection")
		}
		w.After(500*time.Millisecond, func() { p.Control(wire.CtrlShutdown, 0, make([]byte, 4)) })
		for i := range 3 {
			at := 500*time.Millisecond + time.Duration(i+1)*2*time.Millisecond
			w.After(at, func() { p.Data(i, p.StampAt(w.Now.Add(-10*time.Millisecond)), false, Payload(uint32(i), 200)) })
		}
		w.RunFor(time.Second)
		s := h.Accepted[0]
		wantIndexes(t, s, 3, nil)
		if !s.Ended() || !errors.Is(s.Err, engine.ErrPeerShutdown) {
			t.Errorf("ended %v with %v", s.Ended(), s.Err)
		}
	}
}
