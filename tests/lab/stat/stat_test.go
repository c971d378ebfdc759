package stat

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := Median(c.v); got != c.want {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
	v := []float64{2, 1}
	if Median(v); v[0] != 2 {
		t.Error("Median sorted its argument")
	}
}

func TestBlocks(t *testing.T) {
	if b := Blocks([]float64{1, 3, 5, 7, 9}, 2); len(b) != 2 || b[0] != 2 || b[1] != 6 {
		t.Errorf("blocks %v", b)
	}
	if b := Blocks([]float64{1}, 0); b != nil {
		t.Errorf("blocks of nothing %v", b)
	}
}

func TestMean95(t *testing.T) {
	i := Mean95([]float64{1, 2, 3, 4, 5})
	// s = sqrt(2.5), t(4) = 2.776
	if half := 2.776 * math.Sqrt(.5); !near(i.Mean, 3) || !near(i.Low, 3-half) || !near(i.High, 3+half) {
		t.Errorf("%+v", i)
	}
	if one := Mean95([]float64{7}); one.Mean != 7 || !math.IsInf(one.High, 1) {
		t.Errorf("of one value: %+v", one)
	}
}

func TestStudentFalls(t *testing.T) {
	for df := 2; df < 200; df++ {
		if student(df) > student(df-1) {
			t.Errorf("t(%d) is above t(%d)", df, df-1)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      Verdict
	}{
		{-.3, -.12, Better}, {.11, .2, Worse}, {-.05, .05, Same}, {-.3, .02, Inconclusive},
		{-.05, .15, Inconclusive}, {math.Inf(-1), math.Inf(1), Inconclusive},
	} {
		if got := Judge(Interval{Low: c.low, High: c.high}, .10); got != c.want {
			t.Errorf("%v..%v: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func TestFlat(t *testing.T) {
	if err := Flat([]float64{100, 97.1, 102.9}, 100, .03); err != nil {
		t.Error(err)
	}
	if err := Flat([]float64{100, 96}, 100, .03); err == nil || !strings.Contains(err.Error(), "second 2") {
		t.Errorf("got %v", err)
	}
}

func search(limit int) Search {
	return Search{Start: 10, Cap: 1000, Tolerance: .05, Try: func(n int) (string, error) {
		if n > limit {
			return "too much", nil
		}
		return "", nil
	}}
}

func TestSearchFindsTheCapacity(t *testing.T) {
	for _, limit := range []int{10, 11, 37, 159, 160, 161, 500, 999, 1000, 5000} {
		best, steps, err := search(limit).Run()
		if err != nil || best > limit || best < 10 {
			t.Fatalf("limit %d: best %d, %v", limit, best, err)
		}
		if gap := min(limit, 1000) - best; gap > 1 && float64(gap) > .06*float64(limit) {
			t.Errorf("limit %d: best %d is not within 5 %%; steps %v", limit, best, steps)
		}
	}
}

func TestSearchOfTheHopeless(t *testing.T) {
	s := search(0)
	s.Start = 1
	if best, steps, err := s.Run(); best != 0 || len(steps) != 1 || err != nil {
		t.Errorf("best %d, steps %v, %v", best, steps, err)
	}
	s.Try = func(int) (string, error) { return "", errors.New("gone") }
	if _, _, err := s.Run(); err == nil {
		t.Error("no error")
	}
}
