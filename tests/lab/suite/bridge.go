package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
	"github.com/weirline/weirline/tests/lab/stat"
)

const bridgeLatencyMs = 120

// An encoder writes a frame at a time, whatever carries it away: httpwriter.c says
// how ffmpeg does. libsrt's writers get as many messages at once as often.
const (
	bridgeFPS    = 25
	bridgeTickUs = 1000000 / bridgeFPS
)

// bridged is one run of one of the two ways.
type bridged struct {
	cpu     float64 // of all that stands on the sending side
	ok      bool
	why     string
	p99     float64 // over the latency
	threads int     // of the sidecar
}

// bridge compares local writers into one sidecar with writers that speak SRT
// themselves, and the delay with that of a sender without the hop.
func bridge(ctx context.Context, l *lab, x scenario) error {
	var shares, hops []float64
	complete, threads := 0, 0
	f := report.Finding{Scenario: x.s.Name}
	for i := range x.set.Cases {
		runs, err := l.bridgeRound(ctx, x, i)
		if err != nil {
			return err
		}
		side, lib, direct := runs[0], runs[1], runs[2]
		if side.ok {
			complete++
		}
		if lib.cpu > 0 {
			shares = append(shares, side.cpu/lib.cpu)
		}
		hops = append(hops, max(0, side.p99-direct.p99))
		threads = max(threads, side.threads)
		f.Lines = append(f.Lines, fmt.Sprintf("round %d: sidecar and writers %.2f CPU-s (%s), %.2f ms p99 over the latency, %.2f without the hop, %d threads; libsrt writers %.2f CPU-s (%s)",
			i+1, side.cpu, orHealthy(side.why), side.p99, direct.p99, side.threads, lib.cpu, orHealthy(lib.why)))
	}
	f.Text = fmt.Sprintf("Sidecar and writers took %.3f of the CPU of %d writers on libsrt; the local hop added %.2f ms at p99; %d threads.",
		stat.Median(shares), x.set.N, stat.Median(hops), threads)
	l.found(f)
	name, bars, n := x.s.Name, x.s.Bars, float64(x.set.Cases)
	l.judge(name, bars, profile.Complete, "", float64(complete)/n, fmt.Sprintf("%d of %.0f runs", complete, n))
	l.judge(name, bars, profile.CPU, profile.Libsrt, stat.Median(shares), "sending side only; median of the rounds")
	l.judge(name, bars, profile.Hop, "", stat.Median(hops), "p99 with the hop less p99 without")
	l.judge(name, bars, profile.Threads, "", float64(threads), "of the sidecar")
	return nil
}

// bridgeRound runs the ways one after another, the order reversed every round.
func (l *lab) bridgeRound(ctx context.Context, x scenario, round int) (out [3]bridged, err error) {
	ways := []func(context.Context, scenario) (bridged, error){l.bySidecar, l.byLibsrt, l.direct}
	for k := range ways {
		i := k
		if round%2 == 1 {
			i = len(ways) - 1 - k
		}
		if !rest(ctx) {
			return out, ctx.Err()
		}
		b, err := ways[i](ctx, x)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			b.ok, b.why = false, err.Error()
			l.trouble("%s, round %d: %v", x.s.Name, round+1, err)
		}
		out[i] = b
	}
	return out, nil
}

func (l *lab) bySidecar(ctx context.Context, x scenario) (b bridged, err error) {
	p, err := ports(2)
	if err != nil {
		return b, err
	}
	s := l.stage(ctx, x.s.Name)
	defer s.end()
	rcv, err := s.start(loadProgram, "", "ready", "tsrecv", "--port", itoa(p[0]), "--n", itoa(x.set.N), "--secs", secs(x.set.Secs), "--latency", itoa(bridgeLatencyMs))
	if err != nil {
		return b, err
	}
	daemon, err := s.start(profile.Weirline, "", "serving", "serve", "--listen", fmt.Sprintf("127.0.0.1:%d", p[1]), "--log-level", "info")
	if err != nil {
		return b, err
	}
	writers, err := s.writers(x, httpWriter, func(i int) []string {
		return []string{"--port", itoa(p[1]), "--path", fmt.Sprintf("/srt://127.0.0.1:%d?latency=%d&reconnect=0", p[0], bridgeLatencyMs),
			"--stream", itoa(i), "--streams", itoa(x.set.N), "--mbps", secs(x.set.Mbps), "--secs", secs(x.set.Secs), "--fps", itoa(bridgeFPS)}
	})
	if err != nil {
		return b, err
	}
	werr := s.collect(writers, &b)
	var r received
	rerr := s.result(rcv, &r)
	daemon.Stop(0)
	b.threads, b.cpu = daemon.Watch.Peak().Threads, b.cpu+daemon.CPU()
	b.judge(x, r)
	return b, errors.Join(werr, rerr)
}

func (l *lab) byLibsrt(ctx context.Context, x scenario) (b bridged, err error) {
	p, err := ports(1)
	if err != nil {
		return b, err
	}
	s := l.stage(ctx, x.s.Name)
	defer s.end()
	rcv, err := s.receiver(x, p[0])
	if err != nil {
		return b, err
	}
	writers, err := s.writers(x, profile.Libsrt, func(i int) []string {
		return []string{"send", "--port", itoa(p[0]), "--streams", "1", "--stream-base", itoa(i), "--latency", itoa(bridgeLatencyMs),
			"--mbps", secs(x.set.Mbps), "--secs", secs(x.set.Secs), "--tick-us", itoa(bridgeTickUs)}
	})
	if err != nil {
		return b, err
	}
	werr := s.collect(writers, &b)
	var r received
	rerr := s.result(rcv, &r)
	b.judge(x, r)
	return b, errors.Join(werr, rerr)
}

// direct is the same streams from one sender, without a local hop.
func (l *lab) direct(ctx context.Context, x scenario) (b bridged, err error) {
	p, err := ports(1)
	if err != nil {
		return b, err
	}
	s := l.stage(ctx, x.s.Name)
	defer s.end()
	rcv, err := s.receiver(x, p[0])
	if err != nil {
		return b, err
	}
	snd, err := s.start(profile.Weirline, "", "", "bench", "send", "--port", itoa(p[0]), "--streams", itoa(x.set.N),
		"--latency", itoa(bridgeLatencyMs), "--mbps", secs(x.set.Mbps), "--secs", secs(x.set.Secs))
	if err != nil {
		return b, err
	}
	serr := s.collect([]*proc.Process{snd}, &b)
	var r received
	rerr := s.result(rcv, &r)
	b.judge(x, r)
	return b, errors.Join(serr, rerr)
}

// receiver is weirline's for both ways: only the sending sides are compared.
func (s *stage) receiver(x scenario, port int) (*proc.Process, error) {
	return s.start(profile.Weirline, "", "listening", "bench", "recv", "--port", itoa(port), "--streams", itoa(x.set.N),
		"--latency", itoa(bridgeLatencyMs), "--secs", secs(x.set.Secs))
}

// betweenWriters is the pause between the starts of two writers: a handshake
// that waits while processes start dates its whole stream late.
const betweenWriters = 20 * time.Millisecond

func (s *stage) writers(x scenario, program string, args func(int) []string) (out []*proc.Process, err error) {
	for i := range x.set.N {
		time.Sleep(betweenWriters)
		p, err := s.start(program, "", "", args(i)...)
		if err != nil {
			return out, err
		}
		out = append(out, p)
	}
	return out, nil
}

// collect waits for the writers and adds their CPU time.
func (s *stage) collect(writers []*proc.Process, b *bridged) error {
	var errs []error
	for _, w := range writers {
		var line map[string]any
		errs = append(errs, s.result(w, &line))
		b.cpu += w.CPU()
	}
	return errors.Join(errs...)
}

func (b *bridged) judge(x scenario, r received) {
	want := float64(int(perSecond(x.set.Mbps)*x.set.Secs) * x.set.N)
	b.p99 = r.P99 - bridgeLatencyMs
	b.ok = r.Msgs == want && r.Gaps+r.Dup+r.Corrupt == 0
	if !b.ok {
		b.why = fmt.Sprintf("%.0f of %.0f messages, %.0f missing between, %.0f twice, %.0f corrupt", r.Msgs, want, r.Gaps, r.Dup, r.Corrupt)
	}
}
