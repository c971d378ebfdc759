package report

import (
	"fmt"
	"math"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/stat"
)

// Judged is one bar of the lab and what became of it.
type Judged struct {
	Profile string  `json:"profile"`
	Figure  string  `json:"figure"`
	Of      string  `json:"of,omitempty"` // the peer it is a share of
	Value   float64 `json:"value"`
	Limit   float64 `json:"limit"`
	AtLeast bool    `json:"at_least,omitempty"`
	OK      bool    `json:"ok"`
	Missing bool    `json:"missing,omitempty"` // there is no value
	Note    string  `json:"note,omitempty"`    // why there is no value, or what it hides
}

// Judge1 holds a value against a bar. NaN: there is none, as note says.
func Judge1(name string, b profile.Bar, value float64, note string) Judged {
	j := Judged{
		Profile: name, Figure: string(b.Figure), Of: b.Of, Value: value, Limit: b.Limit,
		AtLeast: b.Figure.AtLeast(), Note: note,
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		j.Value, j.Missing, j.Note = 0, true, orElse(note, "not measured")
		return j
	}
	j.OK = value <= b.Limit
	if j.AtLeast {
		j.OK = value >= b.Limit
	}
	return j
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// JudgeLab holds the runs of a profile against its bars.
func JudgeLab(rs Runs, p profile.Profile) []Judged {
	var out []Judged
	for _, b := range p.Lab.Bars {
		value, note := figure(rs, p, b)
		out = append(out, Judge1(p.Name, b, value, note))
	}
	return out
}

// figure is the value of a bar: of a share the median over the pairs, of a
// worst case the maximum, else the median.
func figure(rs Runs, p profile.Profile, b profile.Bar) (float64, string) {
	ours := rs.of(Weirline)
	if b.Figure == profile.Complete {
		return complete(ours)
	}
	counted := ours.counted()
	if len(counted) == 0 {
		return math.NaN(), "no run of weirline counts"
	}
	if b.Of != "" {
		v := rs.Pairs(Weirline, b.Of, value(b.Figure))
		if len(v) == 0 {
			return math.NaN(), "no pair with " + b.Of + " counts"
		}
		return stat.Median(v), fmt.Sprintf("%d pairs%s", len(v), undelivered(rs.of(b.Of).counted(), b.Of))
	}
	switch b.Figure {
	case profile.P99:
		return counted.Median(func(r Run) float64 { return r.Recv.P99 }) - p.LatencyMs, ""
	case profile.Threads:
		return counted.max(func(r Run) float64 { return float64(max(r.Recv.PeakThreads, r.Send.PeakThreads)) }), "worst run and side"
	case profile.Sockets:
		return counted.max(func(r Run) float64 { return float64(max(r.Recv.Sockets, r.Send.Sockets)) }), "worst run and side"
	case profile.PerConn:
		return counted.max(func(r Run) float64 { return perConn(r, p.Lab.Streams) }), "worst run and side"
	case profile.RateMbps:
		return counted.Median(func(r Run) float64 { return r.Recv.Mbps }), ""
	}
	return math.NaN(), "no such figure of a single program"
}

// undelivered says what a peer did not deliver.
func undelivered(theirs Runs, name string) string {
	if d := theirs.Median(Run.Delivered); d < .99995 {
		return fmt.Sprintf("; %s delivered %.2f %%", name, 100*d)
	}
	return ""
}

func complete(ours Runs) (float64, string) {
	if len(ours) == 0 {
		return math.NaN(), "not run"
	}
	n, judged := 0, 0
	for _, r := range ours {
		if r.Void != "" {
			continue // the source's fault, not the transport's; shown among the runs
		}
		judged++
		if r.Clean() {
			n++
		}
	}
	if judged == 0 {
		return math.NaN(), "all runs void: " + ours[0].Void
	}
	return float64(n) / float64(judged), fmt.Sprintf("%d of %d runs", n, judged)
}

func perConn(r Run, n int) float64 {
	if r.Recv.IdleKB == 0 || n == 0 {
		return math.NaN()
	}
	return float64(max(r.Recv.PeakRSSKB, r.Send.PeakRSSKB)-r.Recv.IdleKB) / float64(n)
}

// value is a figure of one run.
func value(f profile.Figure) func(Run) float64 {
	switch f {
	case profile.CPU:
		return Run.CPU
	case profile.CPUGbit:
		return Run.PerGbit
	case profile.RSS:
		return func(r Run) float64 { return float64(r.RSS()) }
	case profile.Rate:
		return func(r Run) float64 { return r.Recv.Mbps }
	case profile.Retrans:
		return func(r Run) float64 { return r.Send.Retrans }
	}
	return func(Run) float64 { return math.NaN() }
}

func (rs Runs) counted() Runs {
	var out Runs
	for _, r := range rs {
		if r.Counts() {
			out = append(out, r)
		}
	}
	return out
}

// Pairs returns a's figure as a share of b's for every round in which both
// count: what the machine did otherwise in that minute cancels out.
func (rs Runs) Pairs(a, b string, f func(Run) float64) []float64 {
	var out []float64
	for _, x := range rs.of(a).counted() {
		for _, y := range rs.of(b).counted() {
			if x.Round == y.Round && f(y) > 0 {
				out = append(out, f(x)/f(y))
			}
		}
	}
	return out
}

// String is the bar in one line.
func (j Judged) String() string {
	v := "FAIL"
	if j.OK {
		v = "PASS"
	}
	note := ""
	if j.Note != "" {
		note = " (" + j.Note + ")"
	}
	return fmt.Sprintf("%s  %-12s %s: %s, %s%s", v, j.Profile, j.what(), j.measured(), j.bar(), note)
}
