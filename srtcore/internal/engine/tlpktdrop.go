package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// maySkip reports whether a hole may be given up: when TLPKTDROP says so, or
// when the peer is gone and fills no hole any more.
func (c *Conn) maySkip() bool {
	return c.state == stateEnding || (c.cfg.TLPktDrop && c.tsbpdOn())
}

// DropsTooLate reports whether this side's receiver gives up what is too late.
func (c *Conn) DropsTooLate() bool { return c.cfg.TLPktDrop && c.tsbpdOn() }

// skipHole gives up the hole at the head of the buffer once the first packet
// behind it is due (draft section 4.6). The next ACK covers it; the sender is
// not told.
func (c *Conn) skipHole(now mono.Time) bool {
	if !c.maySkip() {
		return false
	}
	k := c.holeLen()
	next := c.rcv.buf.at(k)
	if c.tsbpdOn() && next != tombstone && c.playTime(k) > now {
		return false
	}
	c.dropHole(now, k)
	return true
}

// holeLen returns the number of missing packets at the head.
func (c *Conn) holeLen() int {
	return c.rcv.loss.runs[0].last.Sub(c.rcv.buf.first) + 1
}

func (c *Conn) dropHole(now mono.Time, k int) {
	c.noteRange(now, RecRcvDrop, c.rcv.buf.first, k)
	for range k {
		c.rcv.buf.pop()
	}
	c.rcv.loss.removeBefore(c.rcv.buf.first)
	c.stats.rcvDrop.addN(k, k*c.stats.avgPayload())
	c.rcv.ack.wake(now)
}

// handleDropReq: the sender no longer has a range (draft section 3.2.9). A
// range may begin anywhere up to the edge of what was seen, and reach beyond it,
// but not beyond the buffer: then it is nonsense.
func (c *Conn) handleDropReq(now mono.Time, content []byte) {
	if !c.receiving() {
		return
	}
	r, err := wire.ParseDropReq(content)
	buf := &c.rcv.buf
	if err != nil || buf.end().Less(r.First) || r.Last.Sub(buf.first) >= buf.limit {
		c.stats.badPackets++
		return
	}
	c.closeRuns(now)
	c.noteRange(now, RecDropReq, r.First, r.Len())
	c.rcv.begin(now)
	last := r.Last.Sub(buf.first)
	if c.rcv.loss.removeRange(r.First, r.Last) == 0 && last < buf.span {
		return // nothing of it is missing
	}
	for off := max(r.First.Sub(buf.first), 0); off <= last; off++ {
		if buf.at(off) == nil {
			buf.put(off, tombstone)
			c.stats.rcvDrop.addN(1, c.stats.avgPayload())
		}
	}
	c.noteSkipped()
	c.rcv.ack.wake(now)
}

// tooLateAge is the age beyond which the sender drops a message that is not
// acknowledged (draft section 4.6): never less than a second. 0: it never does.
func (c *Conn) tooLateAge() time.Duration {
	if c.peerFlags&wire.FlagTLPktDrop == 0 || c.cfg.SndDropDelay < 0 {
		return 0
	}
	return max(c.peerDelay+c.cfg.SndDropDelay, time.Second) + 20*time.Millisecond
}

// sndDropTooLate drops messages that could no longer be played in time. The
// peer hears of it when it asks for them.
func (c *Conn) sndDropTooLate(now mono.Time) {
	limit, k := c.snd.lateness, 0
	if limit == 0 {
		return
	}
	for k < c.snd.buf.n {
		origin := c.stampTime(now, c.snd.buf.at(k).stamp)
		if now.Sub(origin) <= limit {
			break
		}
		k++
	}
	if k == 0 {
		return
	}
	c.noteSndDrop(now, k)
	c.stats.sndDrop.addN(k, c.snd.buf.drop(k, c.ep.cache))
	c.snd.loss.removeBefore(c.snd.buf.first)
	c.maybeIdle(now)
}
