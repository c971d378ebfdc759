package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

// program is an implementation: its command line up to recv or send, and what
// its sender is told besides.
type program struct {
	argv, send []string
}

// runPair runs receiver and sender on a free port and hands each printed line,
// with the system's own figures added, to keep.
func runPair(prog program, p profile.Profile, secs float64, keep func(map[string]any) error) (r report.Run) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration((secs+60)*float64(time.Second)))
	defer cancel()
	if err := prog.pair(ctx, p, secs, &r, keep); err != nil {
		r.Failed = err.Error()
	}
	return r
}

func (prog program) pair(ctx context.Context, p profile.Profile, secs float64, r *report.Run, keep func(map[string]any) error) error {
	port, err := proc.FreePort()
	if err != nil {
		return err
	}
	start := func(role, ready string, args ...[]string) (*proc.Process, error) {
		argv := slices.Concat(append([][]string{prog.argv, {role, "--port", strconv.Itoa(port), "--secs", fmt.Sprint(secs)}, p.Common}, args...)...)
		return proc.Start(ctx, proc.Spec{Name: role, Argv: argv, Ready: ready})
	}
	rcv, err := start("recv", "listening")
	if err != nil {
		return err
	}
	defer rcv.Stop(time.Second)
	if err := rcv.WaitReady(10 * time.Second); err != nil {
		return err
	}
	snd, err := start("send", "", []string{"--host", "127.0.0.1"}, p.Send, prog.send)
	if err != nil {
		return err
	}
	serr := report.ReadSide(snd, &r.Send, keep)
	if serr != nil {
		rcv.Stop(2 * time.Second)
	}
	return errors.Join(serr, report.ReadSide(rcv, &r.Recv, keep))
}
