package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// sndLoss lists the numbers that the peer reported lost and that are still to
// be sent again.
type sndLoss struct {
	lossList[struct{}]
	// runnable: the budget is not what holds the list up.
	runnable bool

	since  mono.Time // of the period in which
	listed int       // numbers were listed
}

// reportPeriod is a time in which an honest receiver reports a packet once.
const reportPeriod = 10 * time.Millisecond

// overfed reports whether a whole buffer of size n has been listed within the
// period. Each number costs work, also one that is on its way already and is
// unlisted at once: a few bytes a millisecond could keep the loop busy.
func (l *sndLoss) overfed(now mono.Time, n int) bool {
	if now.Sub(l.since) >= reportPeriod {
		l.since, l.listed = now, 0
	}
	return l.listed > n
}

// handleNAK takes a loss report (draft section 3.2.5). A report with one
// impossible entry is refused whole: control packets are not authenticated.
func (c *Conn) handleNAK(now mono.Time, content []byte) {
	ranges, err := wire.ParseNAK(c.ep.ranges[:0], content)
	c.ep.ranges = ranges[:0]
	if err != nil || !c.possibleLoss(ranges) {
		c.stats.badNAK++
		return
	}
	c.stats.recvNAK++
	if c.snd.loss.overfed(now, c.snd.buf.n) {
		return
	}
	for _, r := range ranges {
		c.lose(r)
	}
	c.snd.loss.runnable = true
}

// possibleLoss reports whether every number of every range was once sent.
func (c *Conn) possibleLoss(ranges []wire.SeqRange) bool {
	next := c.snd.buf.nextNew()
	for _, r := range ranges {
		if !r.Last.Less(next) || next.Sub(r.First) > maxFlight {
			return false
		}
	}
	return true
}

// maxFlight is more than any flow window: an older number is not a late report
// but nonsense.
const maxFlight = 1 << 24

// lose lists the part of r that is still held and answers the rest with
// DROPREQ (draft section 3.2.9).
func (c *Conn) lose(r wire.SeqRange) {
	if r.First.Less(c.snd.buf.first) {
		gone := wire.SeqRange{First: r.First, Last: r.Last}
		if !r.Last.Less(c.snd.buf.first) {
			gone.Last = c.snd.buf.first.Prev()
		}
		c.queueDropReq(gone)
		r.First = c.snd.buf.first
	}
	if r.First.LessEq(r.Last) {
		c.snd.loss.listed += c.snd.loss.add(r.First, r.Last, struct{}{}, c.countSndLoss)
	}
}

func (c *Conn) queueDropReq(r wire.SeqRange) {
	if len(c.ctl.dropReqs) < maxQueued {
		c.ctl.dropReqs = append(c.ctl.dropReqs, r)
	}
}

// retransmit sends the next lost packet again, if one is due.
func (c *Conn) retransmit(now mono.Time, b *dgram.Batch) bool {
	s, ok := c.nextLost(now)
	if !ok {
		return false
	}
	slot := c.snd.buf.at(s.Sub(c.snd.buf.first))
	if !c.snd.budget.spend(slot.buf.Len()) {
		c.snd.loss.runnable = false
		return false
	}
	c.snd.loss.remove(s)
	// Same ciphertext, same time stamp; only R differs.
	wire.SetRexmit(slot.buf.Header(), true)
	payload := c.transmit(now, b, slot)
	c.stats.retrans.add(payload)
	return true
}

// nextLost returns the first listed number worth sending, and unlists those
// that are not: acknowledged meanwhile, or already on their way again.
func (c *Conn) nextLost(now mono.Time) (seq.Number, bool) {
	c.snd.loss.removeBefore(c.snd.buf.first)
	for len(c.snd.loss.runs) > 0 {
		s := c.snd.loss.runs[0].first
		off := s.Sub(c.snd.buf.first)
		if off < c.snd.buf.sent && !c.onItsWay(now, c.snd.buf.at(off)) {
			return s, true
		}
		c.snd.loss.remove(s)
	}
	return 0, false
}

// onItsWay reports whether the packet was retransmitted so recently that the
// report cannot know of it: within a round trip. The variance is taken off, as
// libsrt's retransmission algorithm 1 does, so that a report which comes a bit
// early is still served.
func (c *Conn) onItsWay(now mono.Time, slot *sndSlot) bool {
	if c.cfg.RetransmitAlgo == 0 || !wire.IsRexmit(slot.buf.Header()) {
		return false
	}
	return now.Sub(slot.sentAt) < c.rtt.smoothed-4*c.rtt.variance
}
