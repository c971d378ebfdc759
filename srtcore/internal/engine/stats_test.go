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

// What libsrt counts where: an undecryptable packet is not a unique one, and the
// sender's buffer is measured with headers, the receiver's without.
func TestStatsMeanings(t *testing.T) {
	p := newWirePair(t, DefaultConfig())
	p.send(2)
	if s := p.conns[0].Stats(p.now); s.SndBufPkts != 2 || s.SndBufBytes != 2*(1316+44) {
		t.Errorf("sender holds %d packets, %d bytes", s.SndBufPkts, s.SndBufBytes)
	}
	p.turn()
	if s := p.conns[1].Stats(p.now); s.RcvBufPkts != 2 || s.RcvBufBytes != 2*1316 {
		t.Errorf("receiver holds %d packets, %d bytes", s.RcvBufPkts, s.RcvBufBytes)
	}
	p.injectData(p.conns[1].rcv.buf.end(), wire.KKEven)
	s := p.conns[1].Stats(p.now)
	if s.Recv.Packets != 3 || s.RecvUnique.Packets != 2 || s.Undecrypt.Packets != 1 || s.RcvDrop.Packets != 1 {
		t.Errorf("received %d, unique %d, undecrypted %d, dropped %d; want 3, 2, 1, 1",
			s.Recv.Packets, s.RecvUnique.Packets, s.Undecrypt.Packets, s.RcvDrop.Packets)
	}
}
