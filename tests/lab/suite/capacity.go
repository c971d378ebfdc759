package main

import (
	"context"
	"fmt"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
	"github.com/weirline/weirline/tests/lab/stat"
)

// capacity finds how many streams of a rate one pair of processes carries, of
// weirline and of libsrt, and holds half and nine tenths of it.
func capacity(ctx context.Context, l *lab, x scenario) error {
	for _, impl := range []string{profile.Weirline, profile.Shared} {
		var points []report.Point
		try := func(n int, secs float64) (report.Run, string) {
			if !rest(ctx) {
				return report.Run{}, ""
			}
			r := l.pair(ctx, pairs{p: streams(n, x.set.Mbps), runs: profile.Runs{Rounds: 1, Secs: secs}}, impl, n)
			why := sickPair(r)
			if why != "" {
				why += "; " + boundOf(r, secs, l.cores().count)
			}
			return r, why
		}
		best, steps, err := stat.Search{Start: x.set.N, Cap: x.set.Cap, Tolerance: .05, Try: func(n int) (string, error) {
			r, why := try(n, x.set.Secs)
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			l.logf("  %s, %d streams: %s", impl, n, orHealthy(why))
			points = append(points, report.Point{X: float64(n), Y: r.CPU() / x.set.Secs, OK: why == ""})
			return why, nil
		}}.Run()
		if err != nil {
			return err
		}
		f := report.Finding{Scenario: x.s.Name + "-" + impl, Points: points}
		bound := "the end of the search"
		if n := len(steps); best < x.set.Cap && n > 0 {
			bound = firstSick(steps)
		}
		f.Text = fmt.Sprintf("%s: %d streams of %g Mbit/s, %.0f Mbit/s; above that: %s.", impl, best, x.set.Mbps, float64(best)*x.set.Mbps, bound)
		for _, share := range []float64{.5, .9} {
			if n := int(float64(best) * share); n > 0 {
				r, why := try(n, 2*x.set.Secs)
				if ctx.Err() != nil {
					break
				}
				f.Lines = append(f.Lines, fmt.Sprintf("hold at %.0f %%, %d streams: %s; %.2f CPU-s/Gbit, p99 %.1f ms", 100*share, n, orHealthy(why), r.PerGbit(), r.Recv.P99))
			}
		}
		l.found(f)
	}
	return ctx.Err()
}

// firstSick is why the lightest load that failed did.
func firstSick(steps []stat.Step) string {
	why, least := "", 0
	for _, s := range steps {
		if !s.Healthy && (least == 0 || s.Load < least) {
			why, least = s.Why, s.Load
		}
	}
	return why
}

// boundOf says what held a pair up.
func boundOf(r report.Run, secs float64, cores int) string {
	used := (r.Send.RunCPU + r.Recv.RunCPU) / secs
	switch {
	case r.UDPErrors > 0:
		return fmt.Sprintf("bound by UDP buffers: %d datagrams dropped, %.1f of %d cores used", r.UDPErrors, used, cores)
	case used > .9*float64(cores):
		return fmt.Sprintf("bound by the cores: %.1f of %d used", used, cores)
	}
	return fmt.Sprintf("no core was full, %.1f of %d used: time sharing, or one thread's work", used, cores)
}

func streams(n int, mbps float64) profile.Profile {
	return profile.Profile{
		Name: profile.Capacity, LatencyMs: 120, Common: []string{"--streams", itoa(n), "--latency", "120"},
		Send: []string{"--mbps", fmt.Sprint(mbps)}, Lab: profile.Lab{Streams: n, Mbps: mbps},
	}
}

// sickPair says why a pair was not healthy, or nothing.
func sickPair(r report.Run) string {
	switch {
	case r.Failed != "":
		return r.Failed
	case !r.Clean():
		return fmt.Sprintf("%.2f %% delivered", 100*r.Delivered())
	case r.Void != "":
		return "the source: " + r.Void
	case r.Recv.P99 > 120+profile.HealthyOverMs:
		return fmt.Sprintf("p99 delay %.1f ms", r.Recv.P99)
	}
	return ""
}
