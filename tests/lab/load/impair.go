package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/weirline/weirline/tests/lab/impair"
)

// impaired is the line of the bad network.
type impaired struct {
	Role string       `json:"role"`
	Up   impair.Stats `json:"up"`
	Down impair.Stats `json:"down"`
	CPU  float64      `json:"cpu_s"`
}

// impairment is a bad network until it is told to end.
func impairment(ctx context.Context, o options) (any, error) {
	p := impair.Path{Delay: o.delay, Jitter: o.jitter, Loss: o.loss, InOrder: !o.reorder}
	r, err := impair.Start(impair.Config{Listen: fmt.Sprintf("%s:%d", o.host, o.port), Target: o.target, Seed: o.seed, Up: p, Down: p})
	if err != nil {
		return nil, err
	}
	ready("")
	<-ctx.Done()
	up, down := r.Stats()
	r.Close()
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	cpu := float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9
	return impaired{Role: "impair", Up: up, Down: down, CPU: cpu}, nil
}
