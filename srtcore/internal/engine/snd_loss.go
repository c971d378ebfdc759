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

	since mono.Time // of the period in which
	work  int       // was done for loss reports, about one a number

	gone []wire.SeqRange // asked for in vain, to be answered with DROPREQ
}

// An honest receiver reports a packet once a period: no sooner than half a round
// trip after the report before, and no sooner than minNAKPeriod.
const (
	minReportPeriod = minNAKPeriod / 2
	reportsPerRTT   = 4
	// cheapWork is never refused, however little is buffered.
	cheapWork = 1024
	// runsPerWork is how many runs are moved for what one number costs.
	runsPerWork = 64
)

// overfed reports whether the work for a whole buffer of size n has been done
// within the period. Each number costs work, also one that is on its way already
// and is unlisted at once: a few bytes a millisecond could keep the loop busy,
// and with it every other connection.
func (l *sndLoss) overfed(now mono.Time, rtt time.Duration, n int) bool {
	if now.Sub(l.since) >= max(minReportPeriod, rtt/reportsPerRTT) {
		l.since, l.work = now, 0
	}
	return l.work > max(n, cheapWork)
}

// list lists first..last; each is told the runs that were not listed before.
// What it touches becomes one run: a report of the whole window costs one step
// for every run that disappears, and the next one hardly anything.
func (l *sndLoss) list(first, last seq.Number, each func(first, last seq.Number)) {
	i := l.search(first.Prev())
	j, from, until := i, first, last
	for next := first; ; j++ {
		if j == len(l.runs) || last.Next().Less(l.runs[j].first) {
			if next.LessEq(last) {
				l.news(next, last, each)
			}
			break
		}
		r := &l.runs[j]
		if next.Less(r.first) {
			l.news(next, r.first.Prev(), each)
		}
		if r.first.Less(from) {
			from = r.first
		}
		if last.Less(r.last) {
			until = r.last
		}
		next = r.last.Next()
	}
	l.work += 1 + (j - i) + (len(l.runs)-j)/runsPerWork
	one := lossRange[struct{}]{first: from, last: until}
	if i == j {
		l.insert(i, one)
		return
	}
	l.runs[i] = one
	if i+1 < j {
		l.cut(i+1, j)
	}
}

func (l *sndLoss) news(first, last seq.Number, each func(first, last seq.Number)) {
	n := last.Sub(first) + 1
	l.count += n
	l.work += n
	each(first, last)
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
	c.noteWanted(now, ranges)
	if c.snd.loss.overfed(now, c.rtt.smoothed, c.snd.buf.n) {
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
		c.snd.loss.list(r.First, r.Last, c.countSndLoss)
	}
}

func (c *Conn) queueDropReq(r wire.SeqRange) {
	if len(c.snd.loss.gone) < maxQueued {
		c.snd.loss.gone, c.ctl.lists = append(c.snd.loss.gone, r), true
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
		c.noteWait(now, RecSndBudget)
		return false
	}
	c.snd.loss.remove(s)
	c.noteAgain(now, s, slot)
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
	return slot.since(now) < c.rtt.smoothed-4*c.rtt.variance
}
