package seq_test

import (
	"testing"

	"github.com/weirline/weirline/srtcore/seq"
)

func TestSubAndOrder(t *testing.T) {
	tests := []struct {
		s, t seq.Number
		want int
	}{
		{0, 0, 0},
		{1, 0, 1},
		{0, 1, -1},
		{0, seq.Max, 1},
		{seq.Max, 0, -1},
		{2, seq.Max - 1, 4},
		{seq.Max, seq.Max, 0},
		{0x3FFFFFFF, 0, 1<<30 - 1},
		{0x40000000, 0, -(1 << 30)}, // half the circle counts as before
		{0, 0x40000000, -(1 << 30)},
		{0x40000001, 0, -(1<<30 - 1)},
	}
	for _, tt := range tests {
		if got := tt.s.Sub(tt.t); got != tt.want {
			t.Errorf("%#x - %#x = %d, want %d", tt.s, tt.t, got, tt.want)
		}
		if got := tt.s.Less(tt.t); got != (tt.want < 0) {
			t.Errorf("%#x < %#x is %v", tt.s, tt.t, got)
		}
		if got := tt.s.LessEq(tt.t); got != (tt.want <= 0) {
			t.Errorf("%#x <= %#x is %v", tt.s, tt.t, got)
		}
	}
}

func TestSteps(t *testing.T) {
	tests := []struct {
		s    seq.Number
		n    int
		want seq.Number
	}{
		{0, 1, 1},
		{seq.Max, 1, 0},
		{0, -1, seq.Max},
		{seq.Max - 1, 4, 2},
		{2, -4, seq.Max - 1},
		{5, 1 << 31, 5},
		{5, -(1 << 31), 5},
		{5, 0, 5},
	}
	for _, tt := range tests {
		if got := tt.s.Add(tt.n); got != tt.want {
			t.Errorf("%#x + %d = %#x, want %#x", tt.s, tt.n, got, tt.want)
		}
	}
	if seq.Max.Next() != 0 || seq.Number(0).Prev() != seq.Max || seq.Number(7).Next() != 8 || seq.Number(7).Prev() != 6 {
		t.Error("Next or Prev")
	}
}

func TestMsgNoNext(t *testing.T) {
	for m, want := range map[seq.MsgNo]seq.MsgNo{0: 1, 1: 2, seq.MaxMsgNo - 1: seq.MaxMsgNo, seq.MaxMsgNo: 1} {
		if got := m.Next(); got != want {
			t.Errorf("after %#x comes %#x, want %#x", m, got, want)
		}
	}
}

// FuzzArithmetic: adding and subtracting undo each other anywhere on the circle.
func FuzzArithmetic(f *testing.F) {
	f.Add(uint32(0), 1)
	f.Add(uint32(seq.Max), 1)
	f.Add(uint32(seq.Max), -(1 << 30))
	f.Add(uint32(7), 1<<30-1)
	f.Fuzz(func(t *testing.T, raw uint32, n int) {
		s := seq.Number(raw) & seq.Max
		sum := s.Add(n)
		if sum > seq.Max || sum.Add(-n) != s {
			t.Fatalf("%#x + %d = %#x, and back %#x", s, n, sum, sum.Add(-n))
		}
		if n >= -(1<<30) && n < 1<<30 && sum.Sub(s) != n {
			t.Fatalf("%#x + %d is %d away", s, n, sum.Sub(s))
		}
		if s.Next() != s.Add(1) || s.Prev() != s.Add(-1) || s.Next().Prev() != s {
			t.Fatalf("neighbours of %#x", s)
		}
	})
}
