package trace

import (
	"slices"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// received follows what this side receives.
type received struct {
	t     *srtcore.Trace
	gaps  gapList
	extra []*gap // what is no gap in the numbers
	full  []srtcore.TraceRecord
	sum   Counts
	rtt   time.Duration // latest sample
	peer  *sent         // what the sender has noted; nil: unknown
}

func newReceived(t *srtcore.Trace) *received {
	return &received{t: t, sum: Counts{ByCause: map[Cause]int{}}, rtt: t.RTT}
}

func (v *received) take(r srtcore.TraceRecord) {
	switch r.Kind {
	case srtcore.TraceReceived:
		v.sum.Packets += r.Count
	case srtcore.TraceGap:
		g := newGap(r)
		g.silence, g.left, g.spare = r.Since, r.Left, r.Left
		v.gaps = append(v.gaps, g)
	case srtcore.TraceNAK:
		v.asked(r)
	case srtcore.TraceFilled:
		v.filled(r)
	case srtcore.TraceBelated:
		v.belated(r)
	case srtcore.TraceGivenUp:
		v.gaps.overlaps(r, func(g *gap, n int) { g.givenUp, g.gaveUp = g.givenUp+n, r.At })
	case srtcore.TraceDropReq:
		if !r.Sent {
			v.gaps.overlaps(r, func(g *gap, n int) { g.droppedN += min(n, g.missing()) })
		}
	case srtcore.TraceNoRoom:
		v.full = append(v.full, r)
	case srtcore.TraceResync, srtcore.TraceUndecryptable, srtcore.TraceLate:
		v.other(r)
	case srtcore.TraceACKACK:
		if !r.Sent {
			v.rtt = r.RTT
		}
	}
}

func (v *received) asked(r srtcore.TraceRecord) {
	if !r.Sent {
		return
	}
	v.gaps.overlaps(r, func(g *gap, n int) {
		if g.Asked == 0 {
			g.asked = r.At
		}
		if r.Number == 2 {
			g.again += n
		}
		g.Asked, g.askedAt = max(g.Asked, int(r.Number)), r.At
	})
}

func (v *received) filled(r srtcore.TraceRecord) {
	v.sum.Packets++
	if r.Rexmit {
		v.sum.Resent++
	}
	g := v.gaps.find(r.Seq)
	if g == nil {
		return // it showed before the trace begins
	}
	if r.Rexmit {
		g.Repaired++
	} else {
		g.Reordered++
	}
	g.spare = min(g.spare, r.Left)
	g.filled = r.At
}

func (v *received) belated(r srtcore.TraceRecord) {
	if r.Rexmit {
		v.sum.Resent++
	}
	g := v.gaps.find(r.Seq)
	if r.Double || g == nil || g.givenUp == 0 || g.TooLate >= g.givenUp {
		v.sum.Copies++
		return
	}
	g.TooLate++
	g.lateBy = max(g.lateBy, -r.Left)
}

// other takes what is told by one record alone. What follows at once belongs to
// the same trouble.
func (v *received) other(r srtcore.TraceRecord) {
	cause := map[srtcore.TraceKind]Cause{
		srtcore.TraceResync: SenderDropped, srtcore.TraceUndecryptable: Undecryptable, srtcore.TraceLate: LateDelivery,
	}[r.Kind]
	if n := len(v.extra); n > 0 {
		last := v.extra[n-1]
		if last.Cause == cause && r.At-last.gaveUp < time.Second {
			last.Packets, last.Last = last.Packets+r.Count, r.End().Prev()
			last.lateBy, last.gaveUp = max(last.lateBy, -r.Left), r.At
			return
		}
	}
	g := newGap(r)
	g.Cause, g.lateBy, g.gaveUp = cause, -r.Left, r.At
	v.extra = append(v.extra, g)
}

// finish judges each gap and adds it to the report.
func (v *received) finish(out *Report) Counts {
	for _, f := range v.full {
		v.gaps.overlaps(f, func(g *gap, n int) { g.noRoom += n })
	}
	for _, g := range v.gaps {
		g.Lost = g.droppedN + g.givenUp
		g.Cause = v.cause(g)
		if v.peer != nil {
			v.peer.settle(g)
		}
		v.count(g)
	}
	v.extra = slices.DeleteFunc(v.extra, v.explained)
	for _, g := range v.extra {
		if g.Cause != LateDelivery {
			g.Lost = g.Packets
		}
		v.count(g)
	}
	for _, g := range slices.Concat(v.gaps, v.extra) {
		g.finish(v.t)
		g.Text = receivedText(g, v.t, v.roundTrip())
		out.Gaps = append(out.Gaps, g.Gap)
	}
	return v.sum
}

// explained takes from late messages those that had come late; what is left was
// delivered late.
func (v *received) explained(late *gap) bool {
	if late.Cause != LateDelivery {
		return false
	}
	v.gaps.overlaps(srtcore.TraceRecord{Seq: late.First, Count: late.Packets}, func(g *gap, n int) {
		if g.spare < 0 {
			late.Packets -= n
		}
	})
	return late.Packets <= 0
}

// roundTrip is what a repair takes at least.
func (v *received) roundTrip() time.Duration { return max(v.rtt, v.t.RTT) }

func (v *received) count(g *gap) {
	c := &v.sum
	c.ByCause[g.Cause] += g.Packets
	c.Lost += g.Lost
	if g.Cause == LateDelivery || g.Cause == Undecryptable {
		return
	}
	c.Gaps++
	c.Missing += g.Packets
	c.Reordered += g.Reordered
	c.AskedAgain += min(g.again, g.Packets-g.Reordered)
	if g.Cause != Reordered {
		c.LongestGap = max(c.LongestGap, g.Packets)
		c.LongestMs = max(c.LongestMs, inMs(g.silence))
	}
}

// cause judges a gap by what was lost of it, if anything was.
func (v *received) cause(g *gap) Cause {
	switch {
	case g.noRoom > 0:
		return NoRoom
	case g.givenUp == 0 && g.droppedN > 0:
		return SenderDropped
	case g.givenUp == 0 && g.missing() > 0:
		return Open
	case g.givenUp == 0 && g.spare < 0:
		return Outage
	case g.givenUp == 0 && g.Repaired > 0:
		return Repaired
	case g.givenUp == 0:
		return Reordered
	}
	rtt := v.roundTrip()
	switch {
	case g.silence >= max(v.t.RcvLatency, rtt):
		return Outage
	case g.Asked == 0, g.gaveUp-g.asked < rtt:
		return LatencyTooSmall
	case g.TooLate > 0:
		return LateRepair
	}
	return NoAnswer
}

// finish fills what the report says in milliseconds.
func (g *gap) finish(t *srtcore.Trace) {
	g.Found = t.Began.Add(g.at)
	g.SilenceMs, g.LeftMs, g.LateMs = inMs(g.silence), inMs(g.left), inMs(g.lateBy)
	if g.Repaired+g.Reordered > 0 {
		g.RepairMs, g.SpareMs = inMs(g.filled-g.at), inMs(g.spare)
	}
}
