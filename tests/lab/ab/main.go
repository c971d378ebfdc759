// Command ab compares two revisions: it builds weirline of both, runs them in
// turns on one profile, and says whether b is better, worse or neither, by the
// 95 % interval of the paired differences and a line of 10 %.
//
//	go run ./tests/lab/ab -a main -b HEAD -profile P2 -rounds 10
//
// Lives here: building revisions, the paired runs, the verdict.
// May import: profile, proc, report, stat. Never: srtcore, sidecar.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
	"github.com/weirline/weirline/tests/lab/stat"
)

type options struct {
	a, b, profile, out string
	rounds, block      int
	secs               float64
}

func main() {
	var o options
	flag.StringVar(&o.a, "a", "HEAD~1", "revision, or path of a binary")
	flag.StringVar(&o.b, "b", "HEAD", "revision, or path of a binary")
	flag.StringVar(&o.profile, "profile", "P2", "one of "+strings.Join(profile.Names(), ", "))
	flag.StringVar(&o.out, "out", "out/ab", "folder of the builds and results")
	flag.IntVar(&o.rounds, "rounds", 10, "pairs of runs")
	flag.IntVar(&o.block, "block", 1, "pairs averaged into one block; a rest is left out")
	flag.Float64Var(&o.secs, "secs", 5, "seconds of each run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	worse, err := compare(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ab:", err)
		os.Exit(2)
	}
	if worse {
		os.Exit(1)
	}
}

// compare reports whether b is worse in any figure.
func compare(ctx context.Context, o options) (bool, error) {
	p, err := profile.Get(o.profile)
	if err != nil {
		return false, err
	}
	if p.Lab.Net != nil {
		return false, fmt.Errorf("%s needs the bad network: choose a profile on a clean path", p.Name)
	}
	var bin [2]string
	for i, rev := range []string{o.a, o.b} {
		if bin[i], err = build(ctx, rev, o.out); err != nil {
			return false, err
		}
	}
	raw, err := os.Create(filepath.Join(o.out, fmt.Sprintf("%s-%s.jsonl", p.Name, time.Now().UTC().Format("20060102-150405"))))
	if err != nil {
		return false, err
	}
	defer raw.Close()
	if err := head(raw, o, bin); err != nil {
		return false, err
	}
	var rs report.Runs
	for round := range o.rounds {
		for k := range bin {
			i := (k + round) % 2 // the order alternates
			select {
			case <-ctx.Done():
				fmt.Println("interrupted: partial")
				return verdicts(rs, o), nil
			case <-time.After(time.Second):
			}
			r := pair(ctx, bin[i], p, o.secs, raw)
			r.Impl, r.Round = "ab"[i:i+1], round
			rs = append(rs, r)
			fmt.Printf("round %d %s: %5.1f %% delivered, %.3f CPU-s, p99 %.1f ms %s\n", round+1, r.Impl, 100*r.Delivered(), r.CPU(), r.Recv.P99, r.Failed)
		}
	}
	return verdicts(rs, o), nil
}

func head(raw *os.File, o options, bin [2]string) error {
	line := map[string]any{"role": "machine", "machine": proc.ThisMachine(), "profile": o.profile, "a": o.a, "b": o.b}
	for i, name := range []string{"sha256_a", "sha256_b"} {
		sum, err := proc.Checksum(bin[i])
		if err != nil {
			return err
		}
		line[name] = sum
	}
	return json.NewEncoder(raw).Encode(line)
}

// build makes weirline of a revision in a work tree of its own.
func build(ctx context.Context, rev, out string) (string, error) {
	if st, err := os.Stat(rev); err == nil && st.Mode().IsRegular() {
		return filepath.Abs(rev)
	}
	sha, err := git(ctx, "rev-parse", "--verify", "--short=12", rev+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%q is no revision and no binary: %w", rev, err)
	}
	tree, err := filepath.Abs(filepath.Join(out, "tree-"+sha))
	if err != nil {
		return "", err
	}
	bin, err := filepath.Abs(filepath.Join(out, "weirline-"+sha))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	if _, err := git(ctx, "worktree", "add", "--force", "--detach", tree, sha); err != nil {
		return "", err
	}
	defer git(context.WithoutCancel(ctx), "worktree", "remove", "--force", tree)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", bin, "./sidecar/cmd/weirline")
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", rev, err, text)
	}
	return bin, nil
}

func git(ctx context.Context, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, "git", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, text)
	}
	return strings.TrimSpace(string(text)), nil
}

func pair(ctx context.Context, bin string, p profile.Profile, secs float64, raw *os.File) (r report.Run) {
	if err := func() error {
		port, err := proc.FreePort()
		if err != nil {
			return err
		}
		args := append([]string{"--host", "127.0.0.1", "--port", fmt.Sprint(port), "--secs", fmt.Sprint(secs)}, p.Common...)
		start := func(role, ready string, more []string) (*proc.Process, error) {
			argv := append(append([]string{bin, "bench", role}, args...), more...)
			return proc.Start(ctx, proc.Spec{Name: role, Argv: append(argv, p.Lab.OursOnly...), Ready: ready})
		}
		rcv, err := start("recv", "listening", nil)
		if err != nil {
			return err
		}
		defer rcv.Stop(time.Second)
		if err := rcv.WaitReady(10 * time.Second); err != nil {
			return err
		}
		snd, err := start("send", "", p.Send)
		if err != nil {
			return err
		}
		keep := func(line map[string]any) error { return json.NewEncoder(raw).Encode(line) }
		serr := report.ReadSide(snd, &r.Send, keep)
		if serr != nil {
			rcv.Stop(2 * time.Second)
		}
		return errors.Join(serr, report.ReadSide(rcv, &r.Recv, keep))
	}(); err != nil {
		r.Failed = err.Error()
	}
	return r
}

// verdicts prints one line for each figure and reports whether any is worse.
func verdicts(rs report.Runs, o options) (worse bool) {
	for _, f := range []struct {
		name string
		of   func(report.Run) float64
	}{
		{"CPU-s per Gbit", report.Run.PerGbit},
		{"RSS of both", func(r report.Run) float64 { return float64(r.RSS()) }},
		{"p99 delay", func(r report.Run) float64 { return r.Recv.P99 }},
		{"undelivered rate", func(r report.Run) float64 { return 1 / max(r.Recv.Mbps, 1e-9) }},
	} {
		i, v := judge(rs.Pairs("b", "a", f.of), o.block)
		worse = worse || v == stat.Worse
		fmt.Printf("%-18s b against a: %+.1f %% (95 %% interval %+.1f to %+.1f %%, %d blocks): %s\n", f.name, 100*i.Mean, 100*i.Low, 100*i.High, i.N, v)
	}
	return worse
}

// judge takes shares of b in a.
func judge(shares []float64, block int) (stat.Interval, stat.Verdict) {
	for i := range shares {
		shares[i]--
	}
	i := stat.Mean95(stat.Blocks(shares, block))
	return i, stat.Judge(i, profile.VerdictLine)
}
