package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// tail notices that the end of what was sent may be lost: no later packet shows
// the receiver the gap, so no NAK can come. libsrt loses such a packet; this
// side sends the last one again, which also uncovers any loss before it.
type tail struct {
	deadline mono.Time
	tries    int
}

// tailMargin covers the peer's 10 ms of ACK period and its scheduling.
const tailMargin = 30 * time.Millisecond

// tailBurst may be sent at each deadline though the retransmission budget is
// used up: with no new data it would not fill again, and the end would be lost.
const tailBurst = 8 * 1500

func (t *tail) stop() { t.deadline, t.tries = mono.Never, 0 }

// sent follows a new packet. The wait starts anew, because later packets show
// the gap and the peer's periodic NAKs do the rest. Without those only the ACKs
// tell, so the wait goes on from the last of them (draft section 4.8.2).
func (t *tail) sent(now mono.Time, c *Conn) {
	if t.deadline == mono.Never || c.peerFlags&wire.FlagPeriodicNAK != 0 {
		t.arm(now, c)
	}
}

// arm starts the wait: something was sent, or the peer acknowledged.
func (t *tail) arm(now mono.Time, c *Conn) {
	t.tries = 0
	t.deadline = now.Add(c.rtt.timeout() + tailMargin)
}

// rearm follows an ACK: nothing left, nothing to wait for.
func (t *tail) rearm(now mono.Time, c *Conn) {
	if c.snd.buf.sent == 0 {
		t.stop()
		return
	}
	t.arm(now, c)
}

// advanceTail repeats the last packet; with a peer that sends no periodic NAK,
// everything not acknowledged (draft section 4.8.2).
func (c *Conn) advanceTail(now mono.Time) {
	if now < c.snd.tail.deadline {
		return
	}
	s := &c.snd
	if s.buf.sent == 0 {
		s.tail.stop()
		return
	}
	last := s.buf.nextNew().Prev()
	first := last
	if c.peerFlags&wire.FlagPeriodicNAK == 0 {
		first = s.buf.first
	}
	s.budget.grant(tailBurst)
	c.noteRange(now, RecSndProbe, first, last.Sub(first)+1)
	s.loss.add(first, last, struct{}{}, nil)
	s.loss.runnable = true
	s.tail.tries++
	wait := (c.rtt.timeout() + tailMargin) * time.Duration(min(s.tail.tries+1, 8))
	s.tail.deadline = now.Add(wait)
}
