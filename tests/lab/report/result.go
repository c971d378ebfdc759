package report

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/stat"
)

// Result is everything a run of the lab found: what is committed, and what
// every report is made from.
type Result struct {
	Plan     string       `json:"plan"`
	Began    time.Time    `json:"began"`
	Seconds  float64      `json:"seconds"`
	Partial  string       `json:"partial,omitempty"` // why it is not whole
	Machine  proc.Machine `json:"machine"`
	Programs []Program    `json:"programs"`
	Method   []string     `json:"method"`
	Rows     []Row        `json:"rows"`
	Findings []Finding    `json:"findings"`
	Bars     []Judged     `json:"bars"`
	Alarms   Alarms       `json:"alarms,omitzero"`
	Troubles []string     `json:"troubles"` // failed and void runs, one line each
}

// Program is one binary that took part.
type Program struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256"`
}

// Finding is what a scenario found, in words and as numbers for a chart.
type Finding struct {
	Scenario string             `json:"scenario"`
	Text     string             `json:"text"`
	Lines    []string           `json:"lines,omitempty"`
	Points   []Point            `json:"points,omitempty"`
	Values   map[string]float64 `json:"values,omitempty"`
}

// Point is one step of a scenario.
type Point struct {
	X, Y float64
	OK   bool
}

// Row is the medians of one program on one profile.
type Row struct {
	Profile, Impl, Lib           string
	Runs, Counted                int
	Delivered                    float64
	CPUSend, CPURecv, CPU        float64
	PerGbit                      float64
	RSSSendMiB, RSSRecvMiB       float64
	SimultaneousMiB              float64
	ThreadsSend, ThreadsRecv     float64
	P50, P99, P999, Max          float64 // over the latency
	Mbps, Retrans, Switches, UDP float64
	// OfPeer is weirline's CPU as a share of this program's, by pairs.
	OfPeer float64
}

// Rows makes the rows of a profile, in the order of impls.
func Rows(rs Runs, p profile.Profile, impls []string) []Row {
	var out []Row
	for _, impl := range impls {
		if all := rs.of(impl); len(all) > 0 {
			out = append(out, rowOf(rs, all, p, impl))
		}
	}
	return out
}

func rowOf(rs, all Runs, p profile.Profile, impl string) Row {
	c := all.counted()
	r := Row{Profile: p.Name, Impl: impl, Runs: len(all), Counted: len(c)}
	if len(c) == 0 {
		return r
	}
	m := c.Median
	r.Lib = c[0].Recv.Lib
	r.Delivered, r.CPU, r.PerGbit = m(Run.Delivered), m(Run.CPU), m(Run.PerGbit)
	r.CPUSend = m(func(r Run) float64 { return r.Send.TotalCPU })
	r.CPURecv = m(func(r Run) float64 { return r.Recv.TotalCPU })
	r.RSSSendMiB = m(func(r Run) float64 { return float64(r.Send.PeakRSSKB) / 1024 })
	r.RSSRecvMiB = m(func(r Run) float64 { return float64(r.Recv.PeakRSSKB) / 1024 })
	r.SimultaneousMiB = m(func(r Run) float64 { return float64(r.SimultaneousKB) / 1024 })
	r.ThreadsSend = m(func(r Run) float64 { return float64(r.Send.PeakThreads) })
	r.ThreadsRecv = m(func(r Run) float64 { return float64(r.Recv.PeakThreads) })
	over := func(f func(Side) float64) float64 {
		return m(func(r Run) float64 { return f(r.Recv) }) - p.LatencyMs
	}
	r.P50, r.P99 = over(func(s Side) float64 { return s.P50 }), over(func(s Side) float64 { return s.P99 })
	r.P999, r.Max = over(func(s Side) float64 { return s.P999 }), over(func(s Side) float64 { return s.Max })
	r.Mbps = m(func(r Run) float64 { return r.Recv.Mbps })
	r.Retrans = m(func(r Run) float64 { return r.Send.Retrans })
	r.Switches = m(func(r Run) float64 {
		return float64(r.Send.Switches + r.Send.Forced + r.Recv.Switches + r.Recv.Forced)
	})
	r.UDP = m(func(r Run) float64 { return float64(r.UDPErrors) })
	r.OfPeer = stat.Median(rs.Pairs(Weirline, impl, Run.PerGbit))
	return r
}

// Troubles lists the runs that failed or do not count.
func Troubles(rs Runs, name string) (out []string) {
	for _, r := range rs {
		at := fmt.Sprintf("%s, %s, round %d", name, r.Impl, r.Round+1)
		switch {
		case r.Failed != "":
			out = append(out, at+" failed: "+r.Failed)
		case r.Void != "":
			out = append(out, at+" is void: "+r.Void)
		case r.Recv.Corrupt > 0:
			out = append(out, fmt.Sprintf("%s does not count: %d corrupt messages", at, r.Recv.Corrupt))
		}
	}
	return out
}

// Passed reports whether every bar was reached and nothing is missing.
func (r *Result) Passed() bool {
	for _, b := range r.Bars {
		if !b.OK {
			return false
		}
	}
	return r.Partial == "" && len(r.Bars) > 0
}

// Load reads a result.
func Load(path string) (*Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Save writes a result.
func (r *Result) Save(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
