// Command suite is the measurement lab: every profile and scenario of the
// registry, weirline beside its peers, by one method, with a verdict. make lab
// and make lab-quick run it; docs in the report it writes.
//
// Lives here: the plan, the checks before it, and one file for each kind of
// measurement.
// May import: profile, proc, report, stat. Never: srtcore, sidecar: the programs
// under test are processes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/report"
)

// Exit codes: the bars, an interruption, and what could not start.
const (
	exitPassed  = 0
	exitFailed  = 1
	exitNoStart = 2
	exitPartial = 3
)

// committed is the folder of the published results.
const committed = "tests/lab/results"

type options struct {
	quick    bool
	only     string
	out      string
	weirline string
	peers    string
	rounds   int
	secs     float64
	list     bool
	profiles bool
	noNetns  bool
	readme   bool
}

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "the short plan, under 15 minutes")
	flag.StringVar(&o.only, "only", "", "profiles and scenarios, by comma, instead of the whole plan")
	flag.StringVar(&o.out, "out", "out/lab", "folder of the results")
	flag.StringVar(&o.weirline, "weirline", "bin/weirline", "the weirline binary")
	flag.StringVar(&o.peers, "peers", "out/lab/bin", "folder of the built peers")
	flag.IntVar(&o.rounds, "rounds", 0, "rounds of each profile instead of the plan's")
	flag.Float64Var(&o.secs, "secs", 0, "seconds of each steady part instead of the plan's")
	flag.BoolVar(&o.list, "list", false, "print the plan and what it takes, and end")
	flag.BoolVar(&o.profiles, "profiles", false, "behind the measuring runs of each profile, a hold of its own with CPU profiles of both weirline processes")
	flag.BoolVar(&o.noNetns, "no-netns", false, "impaired profiles on the loopback even as root")
	flag.BoolVar(&o.readme, "readme", false, "write the newest result of tests/lab/results into README.md, and end")
	flag.Parse()
	os.Exit(run(o))
}

func run(o options) int {
	if o.readme {
		return say(report.WriteReadme("README.md", committed))
	}
	items, err := plan(o)
	if err != nil {
		return say(err)
	}
	l := &lab{options: o, began: time.Now()}
	printPlan(items, o)
	if o.list {
		return exitPassed
	}
	if problems := l.check(items); len(problems) > 0 {
		fmt.Fprintln(os.Stderr, "lab: nothing was measured:")
		for _, p := range problems {
			fmt.Fprintln(os.Stderr, "  -", p)
		}
		return exitNoStart
	}
	if busy := proc.LoadAverage(); busy > .5 {
		l.result.Method = append(l.result.Method, fmt.Sprintf("THE MACHINE WAS BUSY before the first run: load average %.2f.", busy))
		fmt.Printf("warning: the machine is busy already, load average %.2f: delays and evenness will suffer\n", busy)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l.openSpaces(items)
	if l.spaces != nil {
		defer l.spaces.end()
	}
	if err := l.open(); err != nil {
		return say(err)
	}
	defer l.raw.Close()
	l.measure(ctx, items)
	return l.finish()
}

func say(err error) int {
	if err == nil {
		return exitPassed
	}
	fmt.Fprintln(os.Stderr, "lab:", err)
	return exitNoStart
}

// measure works the items off. An interruption keeps what there is.
func (l *lab) measure(ctx context.Context, items []item) {
	for i, it := range items {
		if ctx.Err() != nil {
			if l.result.Partial == "" {
				l.result.Partial = "interrupted"
			}
			l.result.Partial += "; not begun: " + strings.Join(names(items[i:]), ", ")
			break
		}
		l.logf("[%d/%d, %s] %s: %s", i+1, len(items), time.Since(l.began).Round(time.Second), it.name(), it.text())
		before := len(l.result.Bars)
		if err := it.run(ctx, l); err != nil && ctx.Err() == nil {
			l.trouble("%s failed: %v", it.name(), err)
			l.missing(it, before, err)
		}
		if ctx.Err() != nil {
			l.result.Partial = "interrupted during " + it.name()
		}
		l.show(l.result.Bars[before:])
	}
	l.result.Seconds = time.Since(l.began).Seconds()
}

// missing marks the bars that an item failed to measure.
func (l *lab) missing(it item, before int, err error) {
	have := map[string]bool{}
	for _, b := range l.result.Bars[before:] {
		have[b.Figure+b.Of] = true
	}
	for _, b := range it.bars() {
		if !have[string(b.Figure)+b.Of] {
			l.result.Bars = append(l.result.Bars, report.Judge1(it.name(), b, nan, err.Error()))
		}
	}
}

func (l *lab) finish() int {
	dir := l.out
	if err := l.result.Alarm(committed); err != nil {
		l.trouble("the alarm lines were not judged: %v", err)
	}
	if err := l.result.Save(filepath.Join(dir, "result.json")); err != nil {
		return say(err)
	}
	f, err := os.Create(filepath.Join(dir, "report.md"))
	if err != nil {
		return say(err)
	}
	defer f.Close()
	if err := l.result.Markdown(f); err != nil {
		return say(err)
	}
	charts, err := l.result.Charts(dir)
	if err != nil {
		return say(err)
	}
	fmt.Println()
	l.show(l.result.Bars)
	fmt.Println(l.result.Alarms.Summary())
	for _, a := range l.result.Alarms.Raised() {
		fmt.Println("ALARM", a)
	}
	for _, t := range l.result.Troubles {
		fmt.Println("note:", t)
	}
	fmt.Printf("%s/report.md, result.json, raw.jsonl and %d charts; took %s\n", dir, len(charts), time.Since(l.began).Round(time.Second))
	switch {
	case l.result.Partial != "":
		fmt.Println("PARTIAL:", l.result.Partial)
		return exitPartial
	case !l.result.Passed():
		return exitFailed
	}
	return exitPassed
}

func (l *lab) show(bars []report.Judged) {
	for _, b := range bars {
		fmt.Println(b)
	}
}

func (l *lab) open() error {
	if err := os.MkdirAll(l.out, 0o755); err != nil {
		return err
	}
	var err error
	if l.raw, err = os.Create(filepath.Join(l.out, "raw.jsonl")); err != nil {
		return err
	}
	l.result.Plan, l.result.Began = "lab", l.began
	if l.quick {
		l.result.Plan = "lab-quick"
	}
	if l.only != "" || l.rounds > 0 || l.secs > 0 {
		l.result.Plan += fmt.Sprintf(" (only %s, rounds %d, secs %g)", l.only, l.rounds, l.secs)
	}
	l.result.Machine, l.result.Method = proc.ThisMachine(), append(method(l.cores()), l.result.Method...)
	return l.keep(map[string]any{
		"role": "machine", "time": l.began.UTC().Format(time.RFC3339), "machine": l.result.Machine,
		"programs": l.result.Programs, "plan": l.result.Plan, "method": l.result.Method,
	})
}
