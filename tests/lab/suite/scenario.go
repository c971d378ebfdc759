package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
)

// scenario is a workload with a way of its own.
type scenario struct {
	s   profile.Scenario
	set profile.Setting
}

func (x scenario) name() string        { return x.s.Name }
func (x scenario) text() string        { return x.s.Text }
func (x scenario) bars() []profile.Bar { return x.s.Bars }

func (x scenario) expect() float64 {
	if x.set.Secs == 0 {
		return 0
	}
	return x.set.Expect
}

func (x scenario) needs() []string {
	switch x.s.Name {
	case profile.Steady:
		return nil
	case profile.Bridge:
		return []string{loadProgram, httpWriter, profile.Libsrt}
	case profile.Capacity:
		return []string{profile.Shared}
	}
	return []string{loadProgram}
}

func (x scenario) run(ctx context.Context, l *lab) error {
	return map[string]func(context.Context, *lab, scenario) error{
		profile.Fanout: fanout, profile.Bridge: bridge, profile.Flood: flood, profile.Idle: idle,
		profile.Churn: churn, profile.Slow: slow, profile.Capacity: capacity, profile.Steady: steady,
	}[x.s.Name](ctx, l, x)
}

// stage is the processes of one scenario run, ended together.
type stage struct {
	l    *lab
	ctx  context.Context
	name string
	all  []*proc.Process
}

func (l *lab) stage(ctx context.Context, name string) *stage {
	return &stage{l: l, ctx: ctx, name: name}
}

// start starts a program of the lab and waits until it is ready, if it says so.
func (s *stage) start(program, cores, ready string, args ...string) (*proc.Process, error) {
	p, err := proc.Start(s.ctx, proc.Spec{Name: program, Argv: append([]string{s.l.path(program)}, args...), Cores: cores, Ready: ready})
	if err != nil {
		return nil, err
	}
	s.all = append(s.all, p)
	if ready == "" {
		return p, nil
	}
	return p, p.WaitReady(60 * time.Second)
}

// end stops what still runs, the last first.
func (s *stage) end() {
	for i := len(s.all) - 1; i >= 0; i-- {
		s.all[i].Stop(3 * time.Second)
	}
}

// result waits for a process and reads its one line into to.
func (s *stage) result(p *proc.Process, to any) error {
	lines, err := p.Lines()
	for _, line := range lines {
		line["scenario"], line["program"] = s.name, p.Spec.Name
		if kerr := s.l.keep(line); kerr != nil {
			return kerr
		}
		if cerr := convert(line, to); cerr != nil {
			return cerr
		}
	}
	return err
}

// hold waits, or says that the lab was interrupted.
func (s *stage) hold(secs float64) error {
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-time.After(time.Duration(secs * float64(time.Second))):
		return nil
	}
}

func ports(n int) ([]int, error) {
	var out []int
	seen := map[int]bool{}
	for len(out) < n {
		p, err := proc.FreePort()
		if err != nil {
			return nil, err
		}
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out, nil
}

func itoa(n int) string { return strconv.Itoa(n) }

func secs(v float64) string { return fmt.Sprint(v) }

// received is what the load programs say about what they got.
type received struct {
	Conns     int     `json:"conns"`
	Ended     int     `json:"ended"`
	Msgs      float64 `json:"msgs"`
	Gaps      float64 `json:"gaps"`
	Dup       float64 `json:"dup_or_reorder"`
	Corrupt   float64 `json:"corrupt"`
	MinStream float64 `json:"min_stream_msgs"`
	MaxStream float64 `json:"max_stream_msgs"`
	P50       float64 `json:"lat_p50_ms"`
	P99       float64 `json:"lat_p99_ms"`
	P999      float64 `json:"lat_p999_ms"`
	Max       float64 `json:"lat_max_ms"`
	Late      float64 `json:"late"` // messages beyond the limit
	CPU       float64 `json:"total_cpu_s"`
	Threads   int     `json:"seen_threads"`
}

// perSecond is how many messages a stream of so many Mbit/s has.
func perSecond(mbps float64) float64 { return mbps * 1e6 / 8 / 1316 }

// sick says why the streams were not healthy during a hold, or nothing: every
// message in order, at its rate within 1 % and three messages, on time.
func (r received) sick(n int, mbps, secs, latencyMs float64) string {
	want := perSecond(mbps) * secs
	low, high := want*.99-3, want*1.01+3
	switch {
	case r.Conns != n:
		return fmt.Sprintf("%d of %d connected", r.Conns, n)
	case r.Ended > 0:
		return fmt.Sprintf("%d connections ended", r.Ended)
	case r.Corrupt > 0:
		return fmt.Sprintf("%.0f corrupt messages", r.Corrupt)
	case r.Gaps+r.Dup > 0:
		return fmt.Sprintf("%.0f messages lost, %.0f twice", r.Gaps, r.Dup)
	case r.MinStream < low || r.MaxStream > high:
		return fmt.Sprintf("%.0f to %.0f messages a stream, want %.0f", r.MinStream, r.MaxStream, want)
	case r.P99 > latencyMs+profile.HealthyOverMs:
		return fmt.Sprintf("p99 delay %.1f ms, allowed %.0f: %.0f messages late", r.P99, latencyMs+profile.HealthyOverMs, r.Late)
	}
	return ""
}
