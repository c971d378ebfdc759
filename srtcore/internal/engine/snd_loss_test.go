package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// TestSndLossAgainstASet compares with the obvious implementation, and holds
// the runs apart: two that touch would be one.
func TestSndLossAgainstASet(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		base := seq.Number(rng.Uint32()) & seq.Max
		var l sndLoss
		set := map[seq.Number]bool{}
		news := func(first, last seq.Number) {
			for s := first; s.LessEq(last); s = s.Next() {
				if set[s] {
					t.Fatalf("seed %d: %d is told twice", seed, s)
				}
				set[s] = true
			}
		}
		for range 100 {
			first := base.Add(rng.IntN(60))
			last := first.Add(rng.IntN(8))
			switch rng.IntN(5) {
			case 0:
				l.remove(first)
				delete(set, first)
			case 1:
				l.removeBefore(base.Add(rng.IntN(10)))
				for s := range set {
					if len(l.runs) == 0 || s.Less(l.runs[0].first) {
						delete(set, s)
					}
				}
			default:
				l.list(first, last, news)
				for s := first; s.LessEq(last); s = s.Next() {
					if !set[s] {
						t.Fatalf("seed %d: %d is not told", seed, s)
					}
				}
			}
			wantSameSet(t, seed, &l, set)
		}
	}
}

func wantSameSet(t *testing.T, seed uint64, l *sndLoss, set map[seq.Number]bool) {
	t.Helper()
	n := 0
	for i, r := range l.runs {
		if i > 0 && r.first.LessEq(l.runs[i-1].last.Next()) {
			t.Fatalf("seed %d: runs %d and %d touch: %v", seed, i-1, i, l.runs)
		}
		for s := r.first; s.LessEq(r.last); s = s.Next() {
			n++
			if !set[s] {
				t.Fatalf("seed %d: %d is listed", seed, s)
			}
		}
	}
	if n != len(set) || l.count != n {
		t.Fatalf("seed %d: %d listed, count %d, want %d", seed, n, l.count, len(set))
	}
}

// A report of a whole window costs what it changes: the second time, while new
// packets come and the budget lets one go again, next to nothing.
func TestReportsOfAFullWindowStayCheap(t *testing.T) {
	const window = 65536
	var l sndLoss
	none := func(seq.Number, seq.Number) {}
	for s := seq.Number(0); s < window; s += 2 {
		l.list(s, s, none)
	}
	if len(l.runs) != window/2 {
		t.Fatalf("%d runs", len(l.runs))
	}
	l.list(0, window-1, none)
	if len(l.runs) != 1 || l.count != window {
		t.Fatalf("%d runs of %d numbers, want one of %d", len(l.runs), l.count, window)
	}
	first, next := seq.Number(0), seq.Number(window)
	l.work = 0
	const reports = 10000
	for i := range reports {
		l.remove(first)
		first, next = first.Next(), next.Next()
		l.list(first.Add(i%window/2), next.Prev(), none)
		l.list(first, next.Prev(), none)
	}
	if len(l.runs) > 2 || l.work > 6*reports {
		t.Errorf("%d runs, %d units of work for %d reports", len(l.runs), l.work, 2*reports)
	}
}

// The peer states the round trip, and with it what counts as on its way; it must
// not buy work with that.
func TestReportsAreRefusedBeyondTheirShare(t *testing.T) {
	var l sndLoss
	now, rtt := mono.Time(1e9), 400*time.Millisecond
	if l.overfed(now, rtt, 5000) {
		t.Fatal("at once")
	}
	l.work = 5001
	for _, c := range []struct {
		after time.Duration
		n     int
		want  bool
	}{
		{0, 5000, true}, {50 * time.Millisecond, 6000, false}, {99 * time.Millisecond, 5000, true}, {100 * time.Millisecond, 5000, false},
	} {
		if got := l.overfed(now.Add(c.after), rtt, c.n); got != c.want {
			t.Errorf("after %v, %d buffered: %v", c.after, c.n, got)
		}
	}
}

func BenchmarkNAKOfAFullWindow(b *testing.B) {
	for _, window := range []int{8192, 65536} {
		b.Run(fmt.Sprint(window), func(b *testing.B) {
			var l sndLoss
			none := func(seq.Number, seq.Number) {}
			rng := rand.New(rand.NewPCG(1, 1))
			first := seq.Number(0)
			l.list(first, first.Add(window-1), none)
			for b.Loop() {
				l.remove(first)
				first = first.Next()
				from := rng.IntN(window - 1)
				r := wire.SeqRange{First: first.Add(from), Last: first.Add(window - 1)}
				l.list(r.First, r.Last, none)
				l.list(first, r.Last, none)
			}
		})
	}
}
