package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/weirline/weirline/srtcore/seq"
)

func listed(l *lossList[int]) (out []seq.Number) {
	for _, r := range l.runs {
		for s := r.first; ; s = s.Next() {
			out = append(out, s)
			if s == r.last {
				break
			}
		}
	}
	return out
}

func wantListed(t *testing.T, l *lossList[int], want ...seq.Number) {
	t.Helper()
	got := listed(l)
	if len(got) != len(want) || l.count != len(want) {
		t.Fatalf("listed %v (count %d), want %v", got, l.count, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("listed %v, want %v", got, want)
		}
	}
}

func TestLossListSplitsAndJoins(t *testing.T) {
	var l lossList[int]
	if n := l.add(10, 14, 0, nil); n != 5 {
		t.Fatalf("added %d, want 5", n)
	}
	if n := l.add(8, 16, 0, nil); n != 4 {
		t.Fatalf("added %d around what was listed, want 4", n)
	}
	wantListed(t, &l, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	for _, s := range []seq.Number{12, 8, 16} {
		if !l.remove(s) {
			t.Fatalf("remove(%d) = false", s)
		}
	}
	if l.remove(12) {
		t.Fatal("removed 12 twice")
	}
	wantListed(t, &l, 9, 10, 11, 13, 14, 15)
	if n := l.removeBefore(14); n != 4 {
		t.Fatalf("removed %d before 14, want 4", n)
	}
	wantListed(t, &l, 14, 15)
}

func TestLossListAcrossTheWrap(t *testing.T) {
	var l lossList[int]
	l.add(seq.Max.Prev(), 2, 0, nil)
	wantListed(t, &l, seq.Max.Prev(), seq.Max, 0, 1, 2)
	l.remove(0)
	wantListed(t, &l, seq.Max.Prev(), seq.Max, 1, 2)
	l.removeBefore(1)
	wantListed(t, &l, 1, 2)
}

// TestLossListAgainstASet compares with the obvious implementation.
func TestLossListAgainstASet(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		base := seq.Number(rng.Uint32()) & seq.Max
		var l lossList[int]
		set := map[seq.Number]bool{}
		for range 100 {
			first := base.Add(rng.IntN(60))
			last := first.Add(rng.IntN(5))
			switch rng.IntN(4) {
			case 0:
				l.add(first, last, 0, nil)
				for s := first; s.LessEq(last); s = s.Next() {
					set[s] = true
				}
			case 1:
				if l.remove(first) != set[first] {
					t.Fatalf("seed %d: remove(%d) disagrees", seed, first)
				}
				delete(set, first)
			case 2:
				last = first.Add(rng.IntN(30))
				before := len(set)
				for s := first; s.LessEq(last); s = s.Next() {
					delete(set, s)
				}
				if n := l.removeRange(first, last); n != before-len(set) {
					t.Fatalf("seed %d: removed %d of %d..%d, want %d", seed, n, first, last, before-len(set))
				}
			default:
				l.removeBefore(first)
				for s := range set {
					if s.Less(first) {
						delete(set, s)
					}
				}
			}
			got := listed(&l)
			if len(got) != len(set) || l.count != len(set) {
				t.Fatalf("seed %d: %d listed, count %d, want %d", seed, len(got), l.count, len(set))
			}
			for i, s := range got {
				if !set[s] || (i > 0 && !got[i-1].Less(s)) {
					t.Fatalf("seed %d: wrong or unsorted: %v", seed, got)
				}
			}
		}
	}
}
