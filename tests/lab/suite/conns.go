package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

// settled is how long new connections get before the idle hold is measured.
const settled = 3

// idle holds connections that carry nothing.
func idle(ctx context.Context, l *lab, x scenario) error {
	p, err := ports(1)
	if err != nil {
		return err
	}
	s := l.stage(ctx, x.s.Name)
	defer s.end()
	srv, err := s.start(loadProgram, "", "ready", "listen", "--port", itoa(p[0]), "--n", itoa(x.set.N))
	if err != nil {
		return err
	}
	before, err := proc.Snapshot(srv.Pid())
	if err != nil {
		return err
	}
	cli, err := s.start(loadProgram, "", "ready", "dial", "--port", itoa(p[0]), "--n", itoa(x.set.N), "--secs", secs(x.set.Secs+settled+1))
	if err != nil {
		return err
	}
	if err := s.hold(settled); err != nil {
		return err
	}
	var ends [2]held
	meters := [2]*proc.Meter{}
	for i, p := range []*proc.Process{srv, cli} {
		if meters[i], err = proc.NewMeter(p.Pid()); err != nil {
			return err
		}
	}
	if err := s.hold(x.set.Secs); err != nil {
		return err
	}
	for i, p := range []*proc.Process{srv, cli} {
		if ends[i].cores, err = meters[i].Cores(); err != nil {
			return err
		}
		st, err := proc.Snapshot(p.Pid())
		if err != nil {
			return err
		}
		ends[i].perConn = float64(st.RSSKB-before.RSSKB) / float64(x.set.N)
		ends[i].threads = st.Threads
	}
	var d struct {
		Conns, Lost int
		PerSecond   float64 `json:"connects_per_s"`
	}
	if err := s.result(cli, &d); err != nil {
		return err
	}
	l.idleFound(x, ends, d.Conns, d.Lost, d.PerSecond)
	return nil
}

type held struct {
	cores, perConn float64
	threads        int
}

func (l *lab) idleFound(x scenario, ends [2]held, conns, lost int, rate float64) {
	srv, cli := ends[0], ends[1]
	l.found(report.Finding{Scenario: x.s.Name, Text: fmt.Sprintf(
		"%d connections held for %.0f s, %d lost, made at %.0f a second. Listener: %.1f KiB each, %.3f of a core, %d threads. Caller: %.1f KiB each, %.3f of a core, %d threads.",
		conns, x.set.Secs, lost, rate, srv.perConn, srv.cores, srv.threads, cli.perConn, cli.cores, cli.threads)})
	l.judge(x.s.Name, x.s.Bars, profile.PerConn, "", max(srv.perConn, cli.perConn), "the worse of listener and caller")
	l.judge(x.s.Name, x.s.Bars, profile.Cores, "", max(srv.cores, cli.cores), "the worse of listener and caller")
	l.judge(x.s.Name, x.s.Bars, profile.Failures, "", float64(lost+x.set.N-conns), "connections lost")
}

// churn is a storm of short connections.
func churn(ctx context.Context, l *lab, x scenario) error {
	p, err := ports(1)
	if err != nil {
		return err
	}
	s := l.stage(ctx, x.s.Name)
	defer s.end()
	srv, err := s.start(loadProgram, "", "ready", "listen", "--port", itoa(p[0]), "--n", "1000")
	if err != nil {
		return err
	}
	cli, err := s.start(loadProgram, "", "ready", "churn", "--port", itoa(p[0]), "--workers", itoa(x.set.N), "--secs", secs(x.set.Secs))
	if err != nil {
		return err
	}
	if err := s.hold(x.set.Secs / 3); err != nil {
		return err
	}
	third, err := proc.Snapshot(srv.Pid())
	if err != nil {
		return err
	}
	var c struct {
		Connects, Failures int
		Failure            string  `json:"first_failure"`
		Rate               float64 `json:"connects_per_s"`
		P99                float64 `json:"connect_p99_ms"`
	}
	if err := s.result(cli, &c); err != nil {
		return err
	}
	end, err := proc.Snapshot(srv.Pid())
	if err != nil {
		return err
	}
	l.found(report.Finding{Scenario: x.s.Name, Text: fmt.Sprintf(
		"%d connections at %.0f a second, %d failed %s; a visit took %.0f ms at p99; the listener's memory went from %.1f MiB after a third to %.1f MiB.",
		c.Connects, c.Rate, c.Failures, c.Failure, c.P99, float64(third.RSSKB)/1024, float64(end.RSSKB)/1024)})
	l.judge(x.s.Name, x.s.Bars, profile.Failures, "", float64(c.Failures), c.Failure)
	return nil
}

// steady runs the tests that count allocations.
func steady(ctx context.Context, l *lab, x scenario) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "(?i)alloc", "./srtcore/...", "./sidecar/bench")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := report.Finding{Scenario: x.s.Name}
	passed, failed := 0, 0
	for line := range strings.Lines(string(out)) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "--- PASS"):
			passed++
			f.Lines = append(f.Lines, strings.TrimPrefix(line, "--- "))
		case strings.HasPrefix(line, "--- FAIL"), strings.HasPrefix(line, "FAIL\t"):
			failed++
			f.Lines = append(f.Lines, strings.TrimPrefix(line, "--- "))
		}
	}
	if passed == 0 {
		return fmt.Errorf("no test of allocations ran: %v", err)
	}
	f.Text = fmt.Sprintf("%d tests that count allocations pass, %d fail.", passed, failed)
	l.found(f)
	l.judge(x.s.Name, x.s.Bars, profile.Failures, "", float64(failed), fmt.Sprintf("%d tests pass", passed))
	return nil
}
