// Package stat is the arithmetic of the lab: medians, the 95 % interval of paired
// differences, the evenness of a source, and the search for a capacity. It has no
// clock and starts nothing.
//
// Lives here: pure functions of numbers.
// May import: the standard library. Never: profile, proc, srtcore, sidecar.
package stat

import (
	"fmt"
	"math"
	"slices"
)

// Median returns the middle value, 0 of none. It leaves v as it is.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Blocks averages consecutive values by n; a rest shorter than n is left out.
// Neighbouring seconds resemble each other: averages of several are nearer to
// the independence an interval presumes.
func Blocks(v []float64, n int) []float64 {
	var out []float64
	for ; n > 0 && len(v) >= n; v = v[n:] {
		out = append(out, mean(v[:n]))
	}
	return out
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Interval is a mean with its 95 % confidence interval.
type Interval struct {
	Mean, Low, High float64
	N               int
}

// Mean95 is Student's interval of the mean. Of fewer than two values the
// interval is everything.
func Mean95(v []float64) Interval {
	n := len(v)
	if n < 2 {
		i := Interval{Low: math.Inf(-1), High: math.Inf(1), N: n}
		if n == 1 {
			i.Mean = v[0]
		}
		return i
	}
	m, sq := mean(v), 0.0
	for _, x := range v {
		sq += (x - m) * (x - m)
	}
	half := student(n-1) * math.Sqrt(sq/float64(n-1)/float64(n))
	return Interval{Mean: m, Low: m - half, High: m + half, N: n}
}

// student is the two-sided 95 % quantile of Student's t.
func student(df int) float64 {
	table := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}
	switch {
	case df <= len(table):
		return table[df-1]
	case df <= 30:
		return 2.086 // a little wide: that of 20
	case df <= 60:
		return 2.042
	}
	return 2.000
}

// Verdict is what an interval of relative change says.
type Verdict string

// The verdicts. Same needs the whole interval inside the line.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Same         Verdict = "no change beyond the line"
	Inconclusive Verdict = "inconclusive"
)

// Judge holds the change of a cost (less is better) against a line, as 0.10.
func Judge(i Interval, line float64) Verdict {
	switch {
	case i.High <= -line:
		return Better
	case i.Low >= line:
		return Worse
	case i.Low > -line && i.High < line:
		return Same
	}
	return Inconclusive
}

// Flat says which second of a constant source left the tolerance; nil if none
// did. The counts are of whole seconds.
func Flat(counts []float64, nominal, tolerance float64) error {
	for i, c := range counts {
		if math.Abs(c/nominal-1) > tolerance {
			return fmt.Errorf("second %d of the source carried %.1f %% of its rate, allowed 100 ± %.0f %%", i+1, 100*c/nominal, 100*tolerance)
		}
	}
	return nil
}
