package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

func TestQuickPlanFitsAndFullPlanHasAll(t *testing.T) {
	quick, err := plan(options{quick: true})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, it := range quick {
		sum += it.expect()
	}
	if sum > 14*60 {
		t.Errorf("the quick plan takes %.0f s", sum)
	}
	for _, want := range []string{"P1", "P2", "P3", "P4", "P6", "P7", "K1000", "P2-light", "P2-strong", "P2-gso-off",
		profile.Fanout, profile.Bridge, profile.Flood, profile.Idle, profile.Steady} {
		if !strings.Contains(" "+strings.Join(names(quick), " ")+" ", " "+want+" ") {
			t.Errorf("%s is not in the quick plan", want)
		}
	}
	full, err := plan(options{})
	sum = 0
	for _, it := range full {
		sum += it.expect()
	}
	if sum > 52*60 {
		t.Errorf("the full plan takes %.0f s", sum)
	}
	if err != nil || len(full) != len(profile.All())+len(profile.Scenarios()) {
		t.Errorf("%d items in the full plan, %v", len(full), err)
	}
}

func TestFivePairsOfTheMainProfiles(t *testing.T) {
	for _, name := range []string{"P1", "P2", "P3", "P4", "P6", "P7"} {
		if p, err := profile.Get(name); err != nil || p.Lab.Full.Rounds != 5 {
			t.Errorf("%s: %d rounds, %v", name, p.Lab.Full.Rounds, err)
		}
	}
}

func TestFloodRatesHaveControlsOfEachWindow(t *testing.T) {
	for _, set := range []profile.Setting{{Cases: 20, Controls: 2}, {Cases: 20, Controls: 4}, {Cases: 4}} {
		cases, controls := [2]int{}, [2]int{}
		for i, r := range floodRates(set) {
			if r == 0 {
				controls[i%2]++
			} else {
				cases[i%2]++
			}
		}
		if cases[0] != set.Cases/2 || cases[1] != set.Cases/2 || controls[0] != set.Controls/2 || controls[1] != set.Controls/2 {
			t.Errorf("%+v: cases %v, controls %v", set, cases, controls)
		}
	}
}

func TestFloodIsProven(t *testing.T) {
	set := profile.Setting{Secs: 1, Mbps: 50}
	good := floodCase{rate: 5000, window: 8192, processed: 29000, attack: flooded{Offered: 30000, Rate: 5000, Filled: 8192}}
	good.step.received = received{Conns: 1, MinStream: 4749, MaxStream: 4749, P99: 242}
	if why := good.verdict(set); why != "" {
		t.Error(why)
	}
	for want, spoil := range map[string]func(*floodCase){
		"not full": func(c *floodCase) { c.attack.Filled = 8000 }, "not offered": func(c *floodCase) { c.attack.Rate = 4000 },
		"not processed": func(c *floodCase) { c.processed = 20000 }, "late": func(c *floodCase) { c.step.P99 = 270 },
	} {
		c := good
		if spoil(&c); !strings.Contains(c.verdict(set), want) {
			t.Errorf("%q, want something about %q", c.verdict(set), want)
		}
	}
}

func TestOnlyImpairedPairsGoIntoNamespaces(t *testing.T) {
	clean, _ := profile.Get("P2")
	bad, _ := profile.Get("P2-light")
	l := &lab{}
	if at := l.route(pairs{p: bad}); at.recv != "127.0.0.1" || at.in("send", []string{"x"})[0] != "x" {
		t.Errorf("without namespaces: %+v", at)
	}
	l.spaces = &spaces{id: "wl1"}
	if at := l.route(pairs{p: clean}); at.recv != "127.0.0.1" {
		t.Errorf("clean: %+v", at)
	}
	at := l.route(pairs{p: bad})
	if got := strings.Join(at.in("send", []string{"x", "y"}), " "); at.recv != recvSide || at.relay != sendRelay || got != "ip netns exec wl1send x y" {
		t.Errorf("%+v, %q", at, got)
	}
}

func TestTopLinesOfAProfile(t *testing.T) {
	text := "File: weirline\n      flat  flat%   sum%        cum   cum%\n     0.50s 50.00% 50.00%      0.60s 60.00%  github.com/x/y/engine.(*Conn).Send\n"
	if got := topLines([]byte(text)); got != "50.00% engine.(*Conn).Send" {
		t.Errorf("%q", got)
	}
}

func TestPlanTakesNames(t *testing.T) {
	items, err := plan(options{quick: true, only: "P4-256,churn", rounds: 2, secs: 3})
	if err != nil || len(items) != 2 {
		t.Fatalf("%v, %v", items, err)
	}
	if p := items[0].(pairs); p.runs.Rounds == 0 || len(p.peers) == 0 {
		t.Errorf("%+v", p)
	}
	if _, err := plan(options{only: "P99"}); err == nil || !strings.Contains(err.Error(), "fanout") {
		t.Errorf("error %v, want the known names", err)
	}
}

func TestLimitsComeWithTheirRemedy(t *testing.T) {
	if p := limits(4<<20, 20000, 4096, cores{}); p != nil {
		t.Errorf("a good machine: %q", p)
	}
	p := strings.Join(limits(212992, 1024, 4096, cores{}), "\n")
	for _, want := range []string{"sysctl -w net.core.rmem_max", "ulimit -n 4096"} {
		if !strings.Contains(p, want) {
			t.Errorf("no %q in %q", want, p)
		}
	}
}

func TestAMissingPeerIsSaidBefore(t *testing.T) {
	items, err := plan(options{only: "P2"})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{options: options{peers: t.TempDir(), weirline: "/nowhere/weirline"}}
	p := strings.Join(l.check(items), "\n")
	for _, want := range []string{"weirline is missing at /nowhere", "libsrt is missing", "gosrt is missing", "make lab"} {
		if !strings.Contains(p, want) {
			t.Errorf("no %q in %q", want, p)
		}
	}
}

func evenRun(perSecond ...float64) report.Run {
	return report.Run{Send: report.Side{PerSecond: perSecond}}
}

func TestSourceIsChecked(t *testing.T) {
	p, err := profile.Get("K1000") // 9.498 messages a second and stream
	if err != nil {
		t.Fatal(err)
	}
	x := pairs{p: p, runs: profile.Runs{Secs: 2}}
	if err := even(evenRun(9500, 8500), x); err != nil {
		t.Errorf("whole messages only: %v", err)
	}
	if even(evenRun(9000, 9000), x) == nil {
		t.Error("an uneven source passes")
	}
	r := evenRun(9000, 9000)
	if r.Send.Stalls = 5; even(r, x) != nil {
		t.Error("back-pressure is held against the source")
	}
}

func TestHealthOfStreams(t *testing.T) {
	good := received{Conns: 2, Msgs: 114, MinStream: 57, MaxStream: 57, P99: 245}
	if why := good.sick(2, .6, 1, 240); why != "" {
		t.Error(why)
	}
	for want, spoil := range map[string]func(*received){
		"connected": func(r *received) { r.Conns = 1 }, "ended": func(r *received) { r.Ended = 1 },
		"lost": func(r *received) { r.Gaps = 1 }, "corrupt": func(r *received) { r.Corrupt = 1 },
		"a stream": func(r *received) { r.MinStream = 50 }, "p99": func(r *received) { r.P99 = 261 },
	} {
		r := good
		if spoil(&r); !strings.Contains(r.sick(2, .6, 1, 240), want) {
			t.Errorf("%q, want something about %q", r.sick(2, .6, 1, 240), want)
		}
	}
}

func TestProcessedReadsTheRelaysStatistics(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jsonl")
	text := `{"outputs":[{"sessions":[{"peer":"a:1","srt":{"pktRecvNAKTotal":7}},{"peer":"b:2","srt":{"pktRecvNAKTotal":99}}]}]}
broken
{"outputs":[{"sessions":[{"peer":"a:1","srt":{"pktRecvNAKTotal":42}}]}]}
{"outputs":[]}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := processed(file, "a:1"); n != 42 {
		t.Errorf("%v, want 42", n)
	}
}

type fake struct {
	n   string
	err error
	do  func()
}

func (f fake) name() string        { return f.n }
func (f fake) text() string        { return "" }
func (f fake) expect() float64     { return 1 }
func (f fake) needs() []string     { return nil }
func (f fake) bars() []profile.Bar { return []profile.Bar{{Figure: profile.Failures}} }
func (f fake) run(context.Context, *lab) error {
	if f.do != nil {
		f.do()
	}
	return f.err
}

func TestAFailedItemFailsItsBars(t *testing.T) {
	l := &lab{}
	l.measure(context.Background(), []item{fake{n: "x", err: errors.New("broken")}})
	if len(l.result.Bars) != 1 || l.result.Bars[0].OK || l.result.Bars[0].Note != "broken" || len(l.result.Troubles) != 1 {
		t.Errorf("%+v", l.result)
	}
}

func TestAnInterruptionIsSaid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l := &lab{}
	l.measure(ctx, []item{fake{n: "one"}, fake{n: "two", do: cancel}, fake{n: "three"}})
	if !strings.Contains(l.result.Partial, "two") || !strings.Contains(l.result.Partial, "three") || l.result.Passed() {
		t.Errorf("%q", l.result.Partial)
	}
}

func TestCommandLines(t *testing.T) {
	l := &lab{options: options{weirline: "w", peers: "p"}}
	p, err := profile.Get("P2-gso-off")
	if err != nil {
		t.Fatal(err)
	}
	x := pairs{p: p, runs: profile.Runs{Secs: 5}}
	for _, c := range []struct{ impl, role, want string }{
		{profile.Weirline, "recv", "p/sides recv --host 127.0.0.1 --port 7 --secs 5 --streams 32 --latency 20 --tlpktdrop 0 --no-gso --no-gro"},
		{profile.Shared, "send", "p/srtbench send --host 127.0.0.1 --port 7 --secs 5 --streams 32 --latency 20 --tlpktdrop 0 --mbps 10 --shared-muxer"},
		{profile.Libsrt, "recv", "p/srtbench recv --host 127.0.0.1 --port 7 --secs 5 --streams 32 --latency 20 --tlpktdrop 0"},
		{profile.Gosrt, "recv", "p/gosrtbench recv --host 127.0.0.1 --port 7 --secs 5 --streams 32 --latency 20 --tlpktdrop 0"},
	} {
		if got := strings.Join(l.command(c.impl, c.role, x, l.route(x).recv, 7), " "); got != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.impl, c.role, got, c.want)
		}
	}
}
