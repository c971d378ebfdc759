// Package report turns the raw lines of benchmark runs into one table and a
// verdict against the bars of the profile.
//
// Lives here: medians, ratios, the table.
// May import: profile, proc, stat, svg. Never: srtcore, sidecar, os/exec.
package report

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/stat"
)

// Side is what one process printed and what the system says about it.
type Side struct {
	Role           string  `json:"role"`
	Lib            string  `json:"lib"`
	Error          string  `json:"error"`
	OfferedBytes   uint64  `json:"offered_bytes"`
	DeliveredBytes uint64  `json:"delivered_bytes"`
	Gaps           uint64  `json:"gaps"`
	Dup            uint64  `json:"dup_or_reorder"`
	Corrupt        uint64  `json:"corrupt"`
	P50            float64 `json:"lat_p50_ms"`
	P99            float64 `json:"lat_p99_ms"`
	Max            float64 `json:"lat_max_ms"`
	RunCPU         float64 `json:"run_cpu_s"`
	PeakRSSKB      int64   `json:"peak_rss_kb"`
	PeakThreads    int     `json:"peak_threads"`
	// TotalCPU is the time of the whole process as the system booked it.
	TotalCPU float64 `json:"total_cpu_s"`

	Timeout   int       `json:"timeout"`
	P999      float64   `json:"lat_p999_ms"`
	Mbps      float64   `json:"mbps"`
	Stalls    uint64    `json:"send_stalls"`
	PerSecond []float64 `json:"sent_per_s"`
	SentMsgs  uint64    `json:"sent_msgs"`
	Retrans   float64   `json:"pktRetrans"`
	Switches  int64     `json:"total_nvcsw"`
	Forced    int64     `json:"total_nivcsw"`
	// Sockets is the number of UDP sockets seen in mid-run, IdleKB the resident
	// memory before the first connection.
	Sockets int   `json:"udp_sockets"`
	IdleKB  int64 `json:"idle_rss_kb"`
}

// Run is one pair of processes.
type Run struct {
	Impl       string
	Round      int
	Recv, Send Side
	Failed     string // why there is no result; empty if there is one
	Void       string // why the result does not count though there is one
	// SimultaneousKB is the largest sum of both processes' memory at one moment.
	SimultaneousKB int64
	UDPErrors      int64 // of the machine, during the run
}

// Counts reports whether the run is a measurement: both sides ended well and
// what was delivered is what was sent. How much was delivered is another matter.
func (r Run) Counts() bool { return r.Failed == "" && r.Void == "" && r.Recv.Corrupt == 0 }

// PerGbit is CPU seconds of both for each delivered Gbit.
func (r Run) PerGbit() float64 {
	if r.Recv.DeliveredBytes == 0 {
		return 0
	}
	return r.CPU() / (float64(r.Recv.DeliveredBytes) * 8 / 1e9)
}

// CPU is the seconds of both processes, as the system booked them.
func (r Run) CPU() float64 { return r.Recv.TotalCPU + r.Send.TotalCPU }

// RSS is the peak memory of both processes in KiB.
func (r Run) RSS() int64 { return r.Recv.PeakRSSKB + r.Send.PeakRSSKB }

// Delivered is the share of the offered bytes that arrived.
func (r Run) Delivered() float64 {
	if r.Send.OfferedBytes == 0 {
		return 0
	}
	return float64(r.Recv.DeliveredBytes) / float64(r.Send.OfferedBytes)
}

// Clean says that all was delivered once, in order and unaltered.
func (r Run) Clean() bool {
	return r.Failed == "" && r.Send.OfferedBytes > 0 && r.Recv.DeliveredBytes == r.Send.OfferedBytes &&
		r.Recv.Gaps == 0 && r.Recv.Dup == 0 && r.Recv.Corrupt == 0
}

// The names of the implementations.
const (
	Libsrt   = "libsrt"
	Shared   = "libsrt-shared"
	Weirline = "weirline"
)

// Runs is everything that was measured.
type Runs []Run

// of returns the runs of one implementation.
func (rs Runs) of(impl string) Runs {
	var out Runs
	for _, r := range rs {
		if r.Impl == impl {
			out = append(out, r)
		}
	}
	return out
}

// Median returns the median of f over the runs; 0 of none.
func (rs Runs) Median(f func(Run) float64) float64 {
	var v []float64
	for _, r := range rs {
		v = append(v, f(r))
	}
	return stat.Median(v)
}

// max of f over the runs.
func (rs Runs) max(f func(Run) float64) float64 {
	m := 0.0
	for _, r := range rs {
		m = max(m, f(r))
	}
	return m
}

// Ratio is the median over the rounds of a's CPU divided by b's in the same
// round: what the machine did otherwise in that minute cancels out.
func (rs Runs) Ratio(a, b string) float64 {
	var v []float64
	for _, x := range rs.of(a) {
		for _, y := range rs.of(b) {
			if x.Round == y.Round && x.Failed == "" && y.Failed == "" && y.CPU() > 0 {
				v = append(v, x.CPU()/y.CPU())
			}
		}
	}
	return stat.Median(v)
}

// Check is one bar and whether it was reached.
type Check struct {
	What string
	OK   bool
}

// Judge holds the runs of weirline against the bars.
func Judge(rs Runs, p profile.Profile) []Check {
	ours, b := rs.of(Weirline), p.Bars
	var out []Check
	add := func(ok bool, format string, args ...any) {
		out = append(out, Check{fmt.Sprintf(format, args...), ok})
	}
	for _, r := range rs {
		if r.Failed != "" {
			add(false, "%s round %d gave no result: %s", r.Impl, r.Round, r.Failed)
		}
	}
	if b.AllDelivered {
		add(len(ours) > 0 && !slices.ContainsFunc(ours, func(r Run) bool { return !r.Clean() }),
			"everything delivered in every round, content verified")
	}
	ratio := func(peer string, bar float64) {
		if bar > 0 && len(rs.of(peer)) > 0 {
			v := rs.Ratio(Weirline, peer)
			add(v > 0 && v <= bar, "CPU %.3f of %s, at most %.2f", v, peer, bar)
		}
	}
	ratio(Libsrt, b.CPUOfLibsrt)
	ratio(Shared, b.CPUOfShared)
	if b.Threads > 0 {
		v := int(ours.max(func(r Run) float64 { return float64(max(r.Recv.PeakThreads, r.Send.PeakThreads)) }))
		add(v > 0 && v <= b.Threads, "threads %d a process, at most %d", v, b.Threads)
	}
	if b.RSSBelowLibsrt && len(rs.of(Libsrt)) > 0 {
		v, theirs := ours.Median(rssMiB), rs.of(Libsrt).Median(rssMiB)
		add(v > 0 && v < theirs, "peak RSS %.1f MiB, below libsrt's %.1f MiB", v, theirs)
	}
	if b.P99OverLatencyMs > 0 {
		v := ours.Median(func(r Run) float64 { return r.Recv.P99 }) - p.LatencyMs
		add(len(ours) > 0 && v <= b.P99OverLatencyMs, "p99 delay %.1f ms over the latency, at most %.1f", v, b.P99OverLatencyMs)
	}
	return out
}

func rssMiB(r Run) float64 { return float64(r.RSS()) / 1024 }

// Table prints one line for each implementation, medians over the rounds.
func Table(w io.Writer, rs Runs, p profile.Profile, impls []string) {
	fmt.Fprintf(w, "%s: %s\n\n", p.Name, p.Text)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tdelivered %\tCPU snd + rcv = both (s)\tin the run (s)\tof libsrt\tof shared\tthreads snd + rcv\tRSS snd + rcv (MiB)\tp50 / p99 / max over latency (ms)\t")
	for _, impl := range impls {
		row(tw, rs, rs.of(impl), impl, p.LatencyMs)
	}
	tw.Flush()
}

func row(w io.Writer, all, rs Runs, impl string, latency float64) {
	snd := func(f func(Side) float64) float64 { return rs.Median(func(r Run) float64 { return f(r.Send) }) }
	rcv := func(f func(Side) float64) float64 { return rs.Median(func(r Run) float64 { return f(r.Recv) }) }
	cpu := func(s Side) float64 { return s.TotalCPU }
	threads := func(s Side) float64 { return float64(s.PeakThreads) }
	rss := func(s Side) float64 { return float64(s.PeakRSSKB) / 1024 }
	delay := func(f func(Side) float64) float64 { return rcv(f) - latency }
	fmt.Fprintf(w, "%s\t%.2f\t%.2f + %.2f = %.2f\t%.2f\t%.3f\t%.3f\t%.0f + %.0f\t%.1f + %.1f\t%.1f / %.1f / %.1f\t\n",
		impl, 100*rs.Median(Run.Delivered), snd(cpu), rcv(cpu), rs.Median(Run.CPU),
		rs.Median(func(r Run) float64 { return r.Send.RunCPU + r.Recv.RunCPU }),
		all.Ratio(impl, Libsrt), all.Ratio(impl, Shared), snd(threads), rcv(threads), snd(rss), rcv(rss),
		delay(func(s Side) float64 { return s.P50 }), delay(func(s Side) float64 { return s.P99 }),
		delay(func(s Side) float64 { return s.Max }))
}
