package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
	"github.com/weirline/weirline/tests/lab/stat"
)

// The latency of the publisher's leg and of the players'.
const (
	inLatencyMs  = 120
	outLatencyMs = 120
)

// relayed is a relay on the core under test, with its publisher.
type relayed struct {
	*stage
	relay     *proc.Process
	publisher *proc.Process
	in, out   int // ports of the publisher and of the players
	statsFile string
}

// relay starts both.
func (l *lab) relay(ctx context.Context, name string, mbps float64) (*relayed, error) {
	r, err := l.bareRelay(ctx, name, "", "")
	if err != nil {
		return r, err
	}
	return r, r.publish(mbps, 3600)
}

// bareRelay starts the relay alone, with options for both of its URLs and for
// the publisher's.
func (l *lab) bareRelay(ctx context.Context, name, options, source string) (*relayed, error) {
	p, err := ports(2)
	if err != nil {
		return nil, err
	}
	c := l.cores()
	r := &relayed{stage: l.stage(ctx, name), in: p[0], out: p[1], statsFile: filepath.Join(l.out, name+"-relay.jsonl")}
	url := func(port, latency int) string {
		return fmt.Sprintf("srt://127.0.0.1:%d?mode=listener&latency=%d%s", port, latency, options)
	}
	if r.relay, err = r.start(profile.Weirline, c.test, "", "relay", "--stats-interval", "500ms", "--stats-out", r.statsFile,
		url(p[0], inLatencyMs)+source, url(p[1], outLatencyMs)); err != nil {
		return r, err
	}
	return r, r.hold(.5) // both listeners are bound
}

// publish starts the publisher, once the one before has said farewell.
func (r *relayed) publish(mbps, length float64) error {
	if r.publisher != nil {
		if _, err := r.publisher.Lines(); err != nil {
			return err
		}
	}
	var err error
	r.publisher, err = r.start(profile.Weirline, r.l.cores().load, "", "bench", "send", "--port", itoa(r.in), "--streams", "1",
		"--latency", itoa(inLatencyMs), "--mbps", secs(mbps), "--secs", secs(length))
	if err != nil {
		return err
	}
	return r.hold(1) // it is connected
}

// step is one number of players.
type step struct {
	received
	relayCores, loadCores float64
	udp                   proc.UDP
}

// players runs n players and measures the relay meanwhile.
func (r *relayed) players(n, stall int, hold float64) (step, error) {
	var s step
	before := proc.ReadUDP()
	load, err := r.start(loadProgram, r.l.cores().load, "ready", "players", "--port", itoa(r.out), "--n", itoa(n),
		"--stall", itoa(stall), "--secs", secs(hold), "--latency", itoa(outLatencyMs),
		"--late", itoa(inLatencyMs+outLatencyMs+profile.HealthyOverMs))
	if err != nil {
		return s, err
	}
	relay, err1 := proc.NewMeter(r.relay.Pid())
	player, err2 := proc.NewMeter(load.Pid())
	if err := r.hold(hold * .95); err != nil {
		return s, err
	}
	if err1 == nil && err2 == nil {
		s.relayCores, err1 = relay.Cores()
		s.loadCores, err2 = player.Cores()
	}
	for _, err := range []error{err1, err2, r.result(load, &s.received)} {
		if err != nil {
			return s, err
		}
	}
	s.udp = proc.ReadUDP().Sub(before)
	return s, nil
}

// bound says what held a step up.
func (s step) bound(c cores) string {
	loadCores := max(1, float64(c.count-1))
	switch {
	case s.udp.RcvbufErrors > 0:
		return fmt.Sprintf("UDP receive buffers: %d datagrams dropped", s.udp.RcvbufErrors)
	case s.relayCores > .93:
		return "the relay's core"
	case s.loadCores > .93*loadCores:
		return "the load side's cores"
	}
	return "neither core was full: time sharing of the machine"
}

func fanout(ctx context.Context, l *lab, x scenario) error {
	r, err := l.relay(ctx, x.s.Name, x.set.Mbps)
	if r != nil {
		defer r.end()
	}
	if err != nil {
		return err
	}
	at, last := map[int]step{}, step{}
	var points []report.Point
	search := stat.Search{Start: x.set.N, Cap: x.set.Cap, Tolerance: .05, Try: func(n int) (string, error) {
		s, err := r.players(n, 0, x.set.Secs)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		why := ""
		if err != nil {
			why = err.Error()
		} else {
			why = s.sick(n, x.set.Mbps, x.set.Secs, inLatencyMs+outLatencyMs)
		}
		l.logf("  %d players: relay %.2f cores, load %.2f, p99 %.1f ms %s", n, s.relayCores, s.loadCores, s.P99, why)
		at[n], last = s, s
		points = append(points, report.Point{X: float64(n), Y: s.relayCores, OK: why == ""})
		return why, nil
	}}
	best, steps, err := search.Run()
	if err != nil {
		return err
	}
	return l.fanoutFound(x, best, steps, at[best], last, points)
}

func (l *lab) fanoutFound(x scenario, best int, steps []stat.Step, s, last step, points []report.Point) error {
	c := l.cores()
	if best == 0 {
		return fmt.Errorf("not even %d players were healthy: %s", x.set.N, steps[0].Why)
	}
	bound := last.bound(c)
	if best == x.set.Cap {
		bound = "the end of the search"
	}
	per := s.relayCores / float64(best)
	f := report.Finding{
		Scenario: x.s.Name, Points: points,
		Text:   fmt.Sprintf("%d players healthy; the relay took %.3f of its core, 1/%.0f of a core a player; bound by %s.", best, s.relayCores, math.Round(1/per), bound),
		Values: map[string]float64{"players": float64(best), "core_per_player": per, "players_per_core": 1 / per},
	}
	for _, t := range steps {
		f.Lines = append(f.Lines, fmt.Sprintf("%d players: %s", t.Load, orHealthy(t.Why)))
	}
	l.found(f)
	l.judge(x.s.Name, x.s.Bars, profile.PerPlayer, "", per, fmt.Sprintf("%d players, 1/%.0f; bound by %s", best, 1/per, bound))
	return nil
}

func orHealthy(why string) string {
	if why == "" {
		return "healthy"
	}
	return why
}

// slow has players that never read beside others.
func slow(ctx context.Context, l *lab, x scenario) error {
	r, err := l.relay(ctx, x.s.Name, x.set.Mbps)
	if r != nil {
		defer r.end()
	}
	if err != nil {
		return err
	}
	s, err := r.players(x.set.N, x.set.Stall, x.set.Secs)
	if err != nil {
		return err
	}
	why := s.sick(x.set.N-x.set.Stall, x.set.Mbps, x.set.Secs, inLatencyMs+outLatencyMs)
	l.found(report.Finding{Scenario: x.s.Name, Text: fmt.Sprintf("%d players beside %d that never read: %s; the relay took %.2f of its core.",
		x.set.N-x.set.Stall, x.set.Stall, orHealthy(why), s.relayCores)})
	ok := 0.0
	if why == "" {
		ok = 1
	}
	l.judge(x.s.Name, x.s.Bars, profile.Complete, "", ok, why)
	return nil
}
