package trace

import (
	"slices"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
)

// gap is a Gap in the making.
type gap struct {
	Gap
	at       time.Duration // found
	silence  time.Duration
	left     time.Duration
	filled   time.Duration // the last that came
	spare    time.Duration
	lateBy   time.Duration
	asked    time.Duration // first
	askedAt  time.Duration // last
	resentAt time.Duration // first
	again    int           // asked for a second time
	acked    time.Duration // when the peer acknowledged all of them; 0: it has not
	droppedN int           // the sender said that it no longer has them
	givenUp  int
	gaveUp   time.Duration
	noRoom   int
	noBudget bool
	peer     string // what the other end's trace says
}

func newGap(r srtcore.TraceRecord) *gap {
	return &gap{
		Gap: Gap{Sent: r.Sent, First: r.Seq, Last: r.End().Prev(), Packets: r.Count},
		at:  r.At,
	}
}

// missing is how many are still neither here nor given up.
func (g *gap) missing() int {
	return max(g.Packets-g.Reordered-g.Repaired-g.droppedN-g.givenUp, 0)
}

// gapList is the gaps of one direction by number; they do not overlap.
type gapList []*gap

// search returns the index of the first gap that ends at or after s.
func (l gapList) search(s seq.Number) int {
	i, _ := slices.BinarySearchFunc(l, s, func(g *gap, s seq.Number) int {
		if g.Last.Less(s) {
			return -1
		}
		return 1
	})
	return i
}

func (l gapList) find(s seq.Number) *gap {
	if i := l.search(s); i < len(l) && l[i].First.LessEq(s) {
		return l[i]
	}
	return nil
}

// overlaps calls f for each gap that shares numbers with r, and how many.
func (l gapList) overlaps(r srtcore.TraceRecord, f func(g *gap, n int)) {
	last := r.End().Prev()
	for i := l.search(r.Seq); i < len(l) && l[i].First.LessEq(last); i++ {
		g := l[i]
		from, to := g.First, g.Last
		if from.Less(r.Seq) {
			from = r.Seq
		}
		if last.Less(to) {
			to = last
		}
		f(g, to.Sub(from)+1)
	}
}

// add lists what of r is not listed yet, as gaps of their own.
func (l *gapList) add(r srtcore.TraceRecord) {
	next, end := r.Seq, r.End()
	for next != end {
		i := l.search(next)
		until := end
		if i < len(*l) {
			if g := (*l)[i]; g.First.LessEq(next) {
				if next = g.Last.Next(); end.LessEq(next) {
					return
				}
				continue
			} else if g.First.Less(end) {
				until = g.First
			}
		}
		part := r
		part.Seq, part.Count = next, until.Sub(next)
		*l = slices.Insert(*l, i, newGap(part))
		next = until
	}
}
