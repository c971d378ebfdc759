package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
	"github.com/weirline/weirline/tests/lab/stat"
)

// pairs is a profile: sender and receiver of one program at a time.
type pairs struct {
	p     profile.Profile
	runs  profile.Runs
	peers []string
	// cpuProfile is what the files of a profile hold begin with; empty: measuring.
	cpuProfile string
	holds      bool // a profile hold follows the rounds
}

func (x pairs) name() string        { return x.p.Name }
func (x pairs) text() string        { return x.p.Text }
func (x pairs) bars() []profile.Bar { return x.p.Lab.Bars }
func (x pairs) impls() []string     { return append([]string{profile.Weirline}, x.peers...) }

func (x pairs) needs() []string {
	if x.p.Lab.Net != nil {
		return append([]string{loadProgram}, x.peers...)
	}
	return x.peers
}

// expect adds to each run what start, farewell and pause take.
func (x pairs) expect() float64 {
	n := x.runs.Rounds * len(x.impls())
	if x.holds && n > 0 {
		n++
	}
	return float64(n) * (x.runs.Secs + 3 + 2*x.p.LatencyMs/1000)
}

func (x pairs) run(ctx context.Context, l *lab) error {
	var rs report.Runs
	order := x.impls()
	for round := range x.runs.Rounds {
		for _, impl := range order {
			if !rest(ctx) {
				break
			}
			r := l.pair(ctx, x, impl, round)
			if ctx.Err() != nil {
				break // its failure is the interruption's
			}
			rs = append(rs, r)
			l.logf("  round %d %-14s %s", round+1, impl, outcome(r))
		}
		slices.Reverse(order)
	}
	if x.p.Lab.Known != "" && len(x.peers) > 0 {
		l.trouble("%s: %s", x.p.Name, x.p.Lab.Known)
	}
	l.result.Rows = append(l.result.Rows, report.Rows(rs, x.p, x.impls())...)
	l.result.Troubles = append(l.result.Troubles, report.Troubles(rs, x.p.Name)...)
	if ctx.Err() == nil || len(rs) > 0 {
		l.result.Bars = append(l.result.Bars, report.JudgeLab(rs, x.p)...)
	}
	if x.holds && ctx.Err() == nil {
		l.profileHold(ctx, x)
	}
	return ctx.Err()
}

func outcome(r report.Run) string {
	switch {
	case r.Failed != "":
		return "FAILED: " + r.Failed
	case r.Void != "":
		return "VOID: " + r.Void
	}
	return fmt.Sprintf("%6.2f %% delivered, %.2f CPU-s, %.1f ms p99, %.0f MiB", 100*r.Delivered(), r.CPU(), r.Recv.P99, float64(r.RSS())/1024)
}

// farewell is how long a receiver may take to see that its senders have left:
// libsrt's own limit for a silent peer is five seconds.
const farewell = 12 * time.Second

// rest is the pause before a run; false when interrupted.
func rest(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

func (l *lab) pair(ctx context.Context, x pairs, impl string, round int) report.Run {
	r := report.Run{Impl: impl, Round: round}
	ctx, cancel := context.WithTimeout(ctx, time.Duration((x.runs.Secs+60)*float64(time.Second)))
	defer cancel()
	before := proc.ReadUDP()
	keep := func(line map[string]any) error {
		line["profile"], line["impl"], line["round"] = x.p.Name, impl, round
		return l.keep(line)
	}
	var err error
	if impl == profile.RawGSO || impl == profile.RawMmsg {
		err = l.raws(ctx, x, impl, &r, keep)
	} else {
		err = l.two(ctx, x, impl, &r, keep)
	}
	u := proc.ReadUDP().Sub(before)
	r.UDPErrors = u.InErrors + u.SndbufErrors
	if err != nil {
		r.Failed = err.Error()
	} else if err := even(r, x); err != nil {
		r.Void = err.Error()
	}
	_ = keep(map[string]any{"role": "system", "udp": u, "simultaneous_kb": r.SimultaneousKB, "failed": r.Failed, "void": r.Void})
	return r
}

// even checks the source. Where the connections took no more it is not the
// source that was uneven.
func even(r report.Run, x pairs) error {
	n := int(x.runs.Secs) // a last part of a second is none
	if x.p.Lab.Mbps == 0 || r.Send.Stalls > 0 || len(r.Send.PerSecond) < n || float64(n) != x.runs.Secs {
		return nil
	}
	stream := perSecond(x.p.Lab.Mbps)
	counts := slices.Clone(r.Send.PerSecond[:n])
	// Each stream sends whole messages: what is left of its last one is owed.
	owed := stream*float64(n) - math.Floor(stream*float64(n))
	counts[n-1] += owed * float64(x.p.Lab.Streams)
	return stat.Flat(counts, stream*float64(x.p.Lab.Streams), profile.FlatTolerance)
}

// command is the line of a side.
func (l *lab) command(impl, role string, x pairs, host string, port int) []string {
	program := impl
	if impl == profile.Weirline {
		program = sides
	}
	argv := []string{l.path(program), role, "--host", host, "--port", strconv.Itoa(port), "--secs", fmt.Sprint(x.runs.Secs)}
	argv = append(argv, x.p.Common...)
	if role == "send" {
		argv = append(argv, x.p.Send...)
	}
	switch impl {
	case profile.Weirline:
		argv = append(argv, x.p.Lab.OursOnly...)
		if x.cpuProfile != "" {
			argv = append(argv, "--cpuprofile", x.cpuProfile+"-"+role+".pprof")
		}
	case profile.Libsrt:
		argv = append(argv, x.p.Lab.LibsrtOnly...)
	case profile.Shared:
		argv = append(argv, x.p.Lab.LibsrtOnly...)
		if role == "send" {
			argv = append(argv, "--shared-muxer")
		}
	}
	return argv
}

func (l *lab) two(ctx context.Context, x pairs, impl string, r *report.Run, keep func(map[string]any) error) error {
	port, err := proc.FreePort()
	if err != nil {
		return err
	}
	at := l.route(x)
	rcv, err := proc.Start(ctx, proc.Spec{Name: impl + " recv", Argv: at.in("recv", l.command(impl, "recv", x, at.recv, port)), Ready: "listening"})
	if err != nil {
		return err
	}
	defer rcv.Stop(time.Second)
	if err := rcv.WaitReady(10 * time.Second); err != nil {
		return err
	}
	idle, _ := proc.Snapshot(rcv.Pid())
	if x.p.Lab.Net != nil {
		var end func() error
		if port, end, err = l.network(ctx, *x.p.Lab.Net, r.Round, at, port, keep); err != nil {
			return err
		}
		defer func() { _ = end() }()
	}
	snd, err := proc.Start(ctx, proc.Spec{Name: impl + " send", Argv: at.in("send", l.command(impl, "send", x, at.relay, port))})
	if err != nil {
		return err
	}
	defer snd.Stop(time.Second)
	mid := make(chan [2]int, 1)
	t := time.AfterFunc(time.Duration(x.runs.Secs/2*float64(time.Second)), func() {
		mid <- [2]int{proc.UDPSockets(rcv.Pid()), proc.UDPSockets(snd.Pid())}
	})
	serr := report.ReadSide(snd, &r.Send, keep)
	if serr != nil {
		rcv.Stop(2 * time.Second)
	}
	late := time.AfterFunc(farewell, func() { rcv.Stop(3 * time.Second) })
	rerr := report.ReadSide(rcv, &r.Recv, keep)
	late.Stop()
	if r.Recv.Timeout != 0 {
		rerr = fmt.Errorf("the receiver had to be ended %v after the sender: %.1f %% delivered", farewell, 100*r.Delivered())
	}
	if !t.Stop() {
		n := <-mid
		r.Recv.Sockets, r.Send.Sockets = n[0], n[1]
	}
	r.Recv.IdleKB = idle.RSSKB
	r.SimultaneousKB = proc.SimultaneousKB(snd.Watch, rcv.Watch)
	return errors.Join(serr, rerr)
}

func convert(line map[string]any, to any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// network starts the bad network before a port and returns its own port.
func (l *lab) network(ctx context.Context, n profile.Net, round int, at route, target int, keep func(map[string]any) error) (int, func() error, error) {
	port, err := proc.FreePort()
	if err != nil {
		return 0, nil, err
	}
	argv := []string{
		l.path(loadProgram), "impair", "--host", at.relay, "--port", strconv.Itoa(port), "--target", fmt.Sprintf("%s:%d", at.recv, target),
		"--delay", fmt.Sprintf("%dms", n.DelayMs), "--jitter", fmt.Sprintf("%dms", n.JitterMs),
		"--loss", fmt.Sprint(n.Loss), "--seed", strconv.Itoa(round + 1), fmt.Sprintf("--reorder=%v", n.Reorder),
	}
	p, err := proc.Start(ctx, proc.Spec{Name: "bad network", Argv: argv, Ready: "ready"})
	if err != nil {
		return 0, nil, err
	}
	if err := p.WaitReady(5 * time.Second); err != nil {
		return 0, nil, err
	}
	return port, func() error {
		p.Stop(2 * time.Second)
		lines, err := p.Lines()
		for _, line := range lines {
			err = errors.Join(err, keep(line))
		}
		return err
	}, nil
}

// raws runs the floor: one program that is both sides.
func (l *lab) raws(ctx context.Context, x pairs, impl string, r *report.Run, keep func(map[string]any) error) error {
	port, err := proc.FreePort()
	if err != nil {
		return err
	}
	mode := map[string]string{profile.RawGSO: "gsox", profile.RawMmsg: "mmsg"}[impl]
	p, err := proc.Start(ctx, proc.Spec{Name: impl, Argv: []string{
		l.path(impl), "--mode", mode, "--flows", strconv.Itoa(x.p.Lab.Streams), "--mbps", fmt.Sprint(x.p.Lab.Mbps),
		"--secs", fmt.Sprint(x.runs.Secs), "--port", strconv.Itoa(port),
	}})
	if err != nil {
		return err
	}
	lines, err := p.Lines()
	for _, line := range lines {
		if err := keep(line); err != nil {
			return err
		}
		rawSide(line, r)
	}
	r.SimultaneousKB = r.RSS()
	return err
}

// rawSide reads one of the floor's two lines. Its datagrams have no content to
// verify; what it delivers is counted.
func rawSide(line map[string]any, r *report.Run) {
	num := func(k string) float64 { v, _ := line[k].(float64); return v }
	s := &r.Recv
	if line["role"] == "raw-send" {
		s = &r.Send
		s.OfferedBytes = uint64(num("pkts")) * 1316
	} else {
		s.DeliveredBytes, s.Mbps = uint64(num("pkts"))*1316, num("mbps")
	}
	s.TotalCPU, s.RunCPU = num("run_cpu_s"), num("run_cpu_s")
	s.PeakRSSKB, s.PeakThreads = int64(num("peak_rss_kb")), int(num("peak_threads"))
	s.Switches, s.Forced = int64(num("run_nvcsw")), int64(num("run_nivcsw"))
}
