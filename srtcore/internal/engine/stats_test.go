package engine

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/wire"
)

// The time with data to send never goes back, whatever empties the buffer.
func TestSndDurationOnlyGrows(t *testing.T) {
	p := newWirePair(t, DefaultConfig())
	c, last := p.conns[0], time.Duration(0)
	look := func(what string) {
		t.Helper()
		d := c.Stats(p.now).SndDuration
		if d < last {
			t.Errorf("%s: went from %v to %v", what, last, d)
		}
		last = d
	}
	p.send(1)
	p.now = p.now.Add(3 * time.Second) // nothing is carried: too late now
	c.PollTimeout()
	look("waiting")
	p.send(1)
	if c.stats.sndDrop.Packets != 1 {
		t.Fatal("the first message was not dropped")
	}
	look("after the drop")
	p.now = p.now.Add(time.Second)
	c.PollTimeout()
	p.injectControl(0, wire.ControlHeader{Type: wire.CtrlShutdown}, make([]byte, 4))
	look("after the peer's end")
	if want := 4 * time.Second; last != want {
		t.Errorf("%v in all, want %v", last, want)
	}
	c.PollTimeout()
	p.now = p.now.Add(time.Second)
	if d := c.Stats(p.now).SndDuration; d != last {
		t.Errorf("grew to %v with nothing to send", d)
	}
}
