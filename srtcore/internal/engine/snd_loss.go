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
		c.snd.loss.add(r.First, r.Last, struct{}{}, c.countSndLoss)
	}
}

func (c *Conn) queueDropReq(r wire.SeqRange) {
	if len(c.ctl.dropReqs) < maxQueued {
		c.ctl.dropReqs = append(c.ctl.dropReqs, r)
	}
}

// retransmit sends the next lost packet again, if one is due.
func (c *Conn) retransmit(now mono.Time, b *dgram.Batch) bool {
	for {
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

// rexmitBudget bounds retransmission to OverheadBW percent of what is newly
// sent, plus a burst. On a link that is too slow, repeating everything would
// only add to the queue.
type rexmitBudget struct {
	tokens int // bytes; starts full
	cap    int
	begun  bool
}

// minRexmitBurst is the least burst: 256 full packets.
const minRexmitBurst = 256 * 1500

// earn adds the share of one new packet.
func (r *rexmitBudget) earn(payload, percent int) {
	r.begin()
	r.tokens = min(r.tokens+(payload+wireOverhead)*percent/100, r.cap)
}

func (r *rexmitBudget) begin() {
	if !r.begun {
		r.begun, r.cap, r.tokens = true, minRexmitBurst, minRexmitBurst
	}
}

// grant sees to it that at least n bytes may be spent.
func (r *rexmitBudget) grant(n int) {
	r.begin()
	r.tokens = max(r.tokens, n)
}

// spend takes the bytes of one retransmission, if they are there.
func (r *rexmitBudget) spend(n int) bool {
	r.begin()
	if r.tokens < n {
		return false
	}
	r.tokens -= n
	return true
}

// setRate lets the burst grow to one second of the input, so that an outage
// of the link can be repaired whole.
func (r *rexmitBudget) setRate(bytesPerSecond int) {
	r.begin()
	burst := max(minRexmitBurst, bytesPerSecond)
	if burst > r.cap {
		r.tokens += burst - r.cap
	}
	r.tokens, r.cap = min(r.tokens, burst), burst
}

// tooLateAge is the age beyond which the sender drops a message that is not
// acknowledged (draft section 4.6): never less than a second.
func (c *Conn) tooLateAge() time.Duration {
	return max(c.peerDelay+c.cfg.SndDropDelay, time.Second) + 20*time.Millisecond
}

// sndDropTooLate drops messages that could no longer be played in time. The
// peer hears of it when it asks for them.
func (c *Conn) sndDropTooLate(now mono.Time) {
	if c.peerFlags&wire.FlagTLPktDrop == 0 || c.cfg.SndDropDelay < 0 {
		return
	}
	limit, k := c.tooLateAge(), 0
	for k < c.snd.buf.n {
		origin := c.stampTime(now, wire.Stamp(c.snd.buf.at(k).buf.Header()))
		if now.Sub(origin) <= limit {
			break
		}
		k++
	}
	if k == 0 {
		return
	}
	c.stats.sndDrop.addN(k, c.snd.buf.drop(k, c.ep.cache))
	c.snd.loss.removeBefore(c.snd.buf.first)
	c.maybeIdle(now)
}
