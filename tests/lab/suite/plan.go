package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

// item is one thing to measure.
type item interface {
	name() string
	text() string
	expect() float64 // seconds it takes, roughly
	needs() []string // peers
	bars() []profile.Bar
	run(context.Context, *lab) error
}

// lab is one run of the suite.
type lab struct {
	options
	began  time.Time
	raw    *os.File
	spaces *spaces // nil: there are none
	result report.Result
}

var nan = math.NaN()

// pause is between two runs, so that one's last packets are not the next's.
const pause = time.Second

func (l *lab) logf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (l *lab) trouble(format string, args ...any) {
	l.result.Troubles = append(l.result.Troubles, fmt.Sprintf(format, args...))
}

// keep adds a line to the raw results.
func (l *lab) keep(line map[string]any) error { return json.NewEncoder(l.raw).Encode(line) }

func (l *lab) judge(name string, bars []profile.Bar, f profile.Figure, of string, value float64, note string) {
	for _, b := range bars {
		if b.Figure == f && b.Of == of {
			l.result.Bars = append(l.result.Bars, report.Judge1(name, b, value, note))
		}
	}
}

func (l *lab) found(f report.Finding) {
	l.result.Findings = append(l.result.Findings, f)
	l.logf("  %s", f.Text)
	for _, line := range f.Lines {
		l.logf("  - %s", line)
	}
}

// cores says where the process under test and the load run: apart where there
// are cores for it.
type cores struct {
	count      int
	test, load string // taskset lists; empty: not pinned
}

func (l *lab) cores() cores {
	n := runtime.NumCPU()
	switch {
	case n < 2:
		return cores{count: n}
	case n == 2:
		return cores{n, "0", "1"}
	}
	return cores{n, "0", fmt.Sprintf("1-%d", n-1)}
}

func method(c cores) []string {
	out := []string{
		"Settings and bars are data in tests/lab/profile and were fixed before the run.",
		"One pair of processes at a time, the programs in turn; the order is reversed every round; a pause of 1 s between runs. A share is computed within a round and the median over the rounds is reported.",
		"CPU is the user and system time of both processes from start to end, as the system booked it. Memory is the sum of each process's own peak (VmHWM); \"at once\" is the largest sum sampled at one moment, every 100 ms.",
		"A run counts when both sides ended well and every delivered message was verified by stream, sequence and CRC. Failed runs stay in the raw lines and are never repeated.",
		"The source is flat: a run whose sender handed over more than 3 % more or less than its rate in any second is void, unless its connections refused to take more.",
		"No profiler runs in a measuring run; -profiles adds holds of their own, whose figures are not among the results.",
		"weirline's sides of a pair are tests/lab/sides, weirline bench linked without the daemon, as libsrt's are a C program on the library. Fan-out and the local socket bridge run weirline itself.",
		"libsrt, gosrt and the raw floor are built from tests/lab/peer by this run; libsrt is the system's package.",
		"P2's raw floor is UDP without a protocol: the same datagrams by UDP_SEGMENT across flows and UDP_GRO (raw-gso), or by sendmmsg and recvmmsg.",
		"Impaired profiles go through a relay in user space, in a process of its own whose CPU is not counted; loss and jitter come from a seed that is the round.",
	}
	switch {
	case c.count < 2:
		return append(out, "One core: nothing is pinned, load and process under test share it.")
	case c.count == 2:
		return append(out, "Two cores: in pairs both processes share both cores; in fan-out, slow-readers and nak-flood the relay has core 0 and the load core 1.")
	}
	return append(out, fmt.Sprintf("%d cores: in pairs nothing is pinned, both processes are under test; in fan-out, slow-readers and nak-flood the relay has core %s and the load cores %s.", c.count, c.test, c.load))
}

// plan chooses the items.
func plan(o options) ([]item, error) {
	var all []item
	for _, p := range profile.All() {
		runs, peers := p.Lab.Full, p.Lab.Peers
		if o.quick {
			runs, peers = p.Lab.Quick, judged(p)
		}
		all = append(all, pairs{p: p, runs: o.sized(runs), peers: peers, holds: o.profiles})
	}
	for _, s := range profile.Scenarios() {
		set := s.Full
		if o.quick {
			set = s.Quick
		}
		if o.secs > 0 && set.Secs > 0 {
			set.Secs = o.secs
		}
		all = append(all, scenario{s: s, set: set})
	}
	if o.only != "" {
		return choose(all, strings.Split(o.only, ","))
	}
	return slices.DeleteFunc(all, func(it item) bool { return it.expect() == 0 }), nil
}

func (o options) sized(r profile.Runs) profile.Runs {
	if o.rounds > 0 && r.Rounds > 0 {
		r.Rounds = o.rounds
	}
	if o.secs > 0 {
		r.Secs = o.secs
	}
	return r
}

// judged are the peers that a bar names.
func judged(p profile.Profile) (out []string) {
	for _, peer := range p.Lab.Peers {
		if slices.ContainsFunc(p.Lab.Bars, func(b profile.Bar) bool { return b.Of == peer }) {
			out = append(out, peer)
		}
	}
	return out
}

// choose picks by name, those too that the plan leaves out.
func choose(all []item, want []string) ([]item, error) {
	var out []item
	for _, w := range want {
		i := slices.IndexFunc(all, func(it item) bool { return it.name() == w })
		if i < 0 {
			return nil, fmt.Errorf("no profile or scenario %q; there are %s", w, strings.Join(names(all), ", "))
		}
		it := all[i]
		if p, ok := it.(pairs); ok && p.runs.Rounds == 0 {
			p.runs.Rounds, p.runs.Secs, p.peers = 1, max(p.runs.Secs, 5), p.p.Lab.Peers
			it = p
		}
		if s, ok := it.(scenario); ok && s.set.Secs == 0 {
			s.set = s.s.Full
			it = s
		}
		out = append(out, it)
	}
	return out, nil
}

func names(items []item) (out []string) {
	for _, it := range items {
		out = append(out, it.name())
	}
	return out
}

func printPlan(items []item, o options) {
	sum := 0.0
	for _, it := range items {
		sum += it.expect()
	}
	fmt.Printf("The plan, about %s:\n", (time.Duration(sum) * time.Second).String())
	for _, it := range items {
		fmt.Printf("  %-18s %4.0f s  %s\n", it.name(), it.expect(), it.text())
	}
}
