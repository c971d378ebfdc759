package trace

import (
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
)

// sent follows what this side sends.
type sent struct {
	t       *srtcore.Trace
	asked   gapList // what the peer has asked for
	drops   []*drop
	sum     Counts
	times   map[seq.Number]int // how often each was sent again
	acked   seq.Number
	ackedAt time.Duration // the last ACK; -1: none
	window  time.Duration // when the peer's buffer was last seen full; -1: never
}

// drop is a run of packets that the sender has dropped, and what was going on.
type drop struct {
	*gap
	age     time.Duration
	unsent  int
	silence time.Duration // since the last acknowledgement
	window  bool          // the peer's buffer was full shortly before
}

func newSent(t *srtcore.Trace) *sent {
	return &sent{t: t, sum: Counts{ByCause: map[Cause]int{}}, times: map[seq.Number]int{}, ackedAt: -1, window: -1}
}

func (v *sent) take(r srtcore.TraceRecord) {
	switch r.Kind {
	case srtcore.TraceSent:
		v.sum.Packets += r.Count
	case srtcore.TraceNAK:
		if !r.Sent {
			v.wanted(r)
		}
	case srtcore.TraceResent:
		v.resent(r)
	case srtcore.TraceSenderDrop:
		v.dropped(r)
	case srtcore.TraceWindowFull:
		v.window = r.At
	case srtcore.TraceNoBudget:
		for _, g := range v.asked[v.asked.search(v.acked):] {
			g.noBudget = g.noBudget || g.Resent < g.Packets
		}
	case srtcore.TraceACK:
		if !r.Sent {
			v.acknowledged(r)
		}
	}
}

func (v *sent) acknowledged(r srtcore.TraceRecord) {
	if v.ackedAt >= 0 {
		for i := v.asked.search(v.acked); i < len(v.asked) && v.asked[i].Last.Less(r.Seq); i++ {
			v.asked[i].acked = r.At
		}
	}
	v.acked, v.ackedAt = r.Seq, r.At
}

func (v *sent) wanted(r srtcore.TraceRecord) {
	v.asked.add(r)
	v.asked.overlaps(r, func(g *gap, _ int) {
		if g.Asked == 0 || g.askedAt != r.At {
			g.Asked++
		}
		g.askedAt, g.Sent = r.At, true
	})
}

func (v *sent) resent(r srtcore.TraceRecord) {
	v.sum.Resent++
	if v.times[r.Seq]++; v.times[r.Seq] == 2 {
		v.sum.AskedAgain++
	}
	g := v.asked.find(r.Seq)
	if g == nil {
		return // unasked: a probe
	}
	if g.Resent == 0 {
		g.resentAt = r.At
	}
	g.Resent++
}

func (v *sent) dropped(r srtcore.TraceRecord) {
	r.Sent = true
	d := &drop{gap: newGap(r), age: r.Since, unsent: r.Unsent}
	d.Cause, d.Lost = SenderDropped, r.Count
	if v.ackedAt >= 0 {
		d.silence = r.At - v.ackedAt
	} else {
		d.silence = r.At
	}
	d.window = v.window >= 0 && r.At-v.window < r.Since+time.Second
	if n := len(v.drops); n > 0 && v.drops[n-1].Last.Next() == r.Seq && r.At-v.drops[n-1].gaveUp < time.Second {
		last := v.drops[n-1]
		last.Packets, last.Last, last.Lost = last.Packets+r.Count, d.Last, last.Lost+r.Count
		last.age, last.unsent = max(last.age, d.age), last.unsent+d.unsent
		last.silence, last.gaveUp = max(last.silence, d.silence), r.At
		return
	}
	d.gaveUp = r.At
	v.drops = append(v.drops, d)
}

func (v *sent) finish(out *Report) Counts {
	for _, d := range v.drops {
		asked := 0
		v.asked.overlaps(srtcore.TraceRecord{Seq: d.First, Count: d.Packets}, func(g *gap, n int) {
			g.droppedN += n
			asked += n
		})
		d.judge(asked)
		d.finish(v.t)
		d.Text = dropText(d)
		v.sum.Lost += d.Lost
		v.sum.ByCause[SenderDropped] += d.Packets
		out.Gaps = append(out.Gaps, d.Gap)
	}
	for _, g := range v.asked {
		g.Cause = askedCause(g)
		if v.givenUp(g) {
			g.Lost = max(g.Packets-g.droppedN, 0)
			v.sum.Lost += g.Lost
		}
		g.finish(v.t)
		g.Text = askedText(g)
		v.sum.Missing += g.Packets
		v.sum.Gaps++
		v.sum.LongestGap = max(v.sum.LongestGap, g.Packets)
		if g.Cause != SenderDropped { // which the drops have counted
			v.sum.ByCause[g.Cause] += g.Packets
		}
	}
	for _, g := range v.asked {
		out.Gaps = append(out.Gaps, g.Gap)
	}
	return v.sum
}

// judge says how many of the dropped packets the peer goes without: those that
// it has asked for, and those never sent. The others were only not acknowledged
// yet, because of a gap before them; unless the peer said nothing at all.
func (d *drop) judge(asked int) {
	if d.silence < d.age/2 {
		d.Lost = min(asked+d.unsent, d.Packets)
	}
}

// ackPeriod is how often a receiver acknowledges.
const ackPeriod = 10 * time.Millisecond

// givenUp reports whether the peer has acknowledged what it asked for only when
// its time was over: it does so with packets that it gives up. What was repaired
// it acknowledges at the latest when the time of an earlier one was over.
func (v *sent) givenUp(g *gap) bool {
	return g.acked > 0 && v.t.PeerLatency > ackPeriod && g.acked-g.at >= v.t.PeerLatency-ackPeriod/2
}

func askedCause(g *gap) Cause {
	switch {
	case g.droppedN > 0 && g.Resent < g.Packets:
		return SenderDropped
	case g.Resent > 0:
		return Resent
	case g.noBudget:
		return NoBudget
	}
	return NotResent
}
