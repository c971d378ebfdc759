// Command run measures weirline against libsrt on one profile: the same
// workload, one pair of processes at a time, the implementations in turn and in
// alternating order, so that a noisy machine treats them alike.
//
// Lives here: starting the pairs, reading what they print, keeping the raw
// lines.
// May import: proc, profile, report. Never: srtcore, sidecar: the programs under
// test are processes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

type options struct {
	profile, peer, weirline, out, impls string
	rounds                              int
	secs                                float64
}

func main() {
	var o options
	flag.StringVar(&o.profile, "profile", "P2", "one of "+strings.Join(profile.Names(), ", "))
	flag.StringVar(&o.peer, "peer", "out/bench/bin/srtbench", "the libsrt peer")
	flag.StringVar(&o.weirline, "weirline", "out/bench/bin/sides", "weirline's side")
	flag.StringVar(&o.out, "out", "out/bench", "folder of the raw results")
	flag.StringVar(&o.impls, "impls", "libsrt,libsrt-shared,weirline", "what to measure")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds")
	flag.Float64Var(&o.secs, "secs", 10, "seconds of each run")
	flag.Parse()
	ok, err := measure(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func measure(o options) (bool, error) {
	p, err := profile.Get(o.profile)
	if err != nil {
		return false, err
	}
	programs := map[string]program{
		report.Libsrt:   {argv: []string{o.peer}},
		report.Shared:   {argv: []string{o.peer}, send: []string{"--shared-muxer"}},
		report.Weirline: {argv: []string{o.weirline}},
	}
	impls := strings.Split(o.impls, ",")
	for _, impl := range impls {
		if _, ok := programs[impl]; !ok {
			return false, fmt.Errorf("no implementation %q", impl)
		}
	}
	raw, err := create(o.out, p.Name)
	if err != nil {
		return false, err
	}
	defer raw.Close()
	if err := writeMachine(raw, p, o); err != nil {
		return false, err
	}
	var runs report.Runs
	order := slices.Clone(impls)
	for round := range o.rounds {
		for _, impl := range order {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, o.rounds, impl)
			keep := func(line map[string]any) error {
				line["impl"], line["round"], line["profile"] = impl, round, p.Name
				return json.NewEncoder(raw).Encode(line)
			}
			r := runPair(programs[impl], p, o.secs, keep)
			if r.Failed != "" && impl != report.Weirline {
				fmt.Fprintf(os.Stderr, "no result, once more: %s\n", r.Failed)
				r = runPair(programs[impl], p, o.secs, keep)
			}
			r.Impl, r.Round = impl, round
			runs = append(runs, r)
		}
		slices.Reverse(order)
	}
	return show(runs, p, impls, raw.Name()), nil
}

func show(runs report.Runs, p profile.Profile, impls []string, raw string) bool {
	fmt.Println()
	report.Table(os.Stdout, runs, p, impls)
	fmt.Println()
	ok := true
	if slices.Contains(impls, report.Weirline) {
		for _, c := range report.Judge(runs, p) {
			verdict := "PASS"
			if !c.OK {
				verdict, ok = "FAIL", false
			}
			fmt.Printf("%s  %s\n", verdict, c.What)
		}
	}
	fmt.Printf("raw results: %s\n", raw)
	return ok
}

func create(dir, name string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(dir, fmt.Sprintf("%s-%s.jsonl", name, time.Now().UTC().Format("20060102-150405"))))
}
