package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends at the first SIGINT or SIGTERM; what
// was begun is then finished. The second one ends the process at once.
func untilSignal(parent context.Context, log *slog.Logger) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-c:
			log.Info("stopping", "signal", s.String())
			cancel()
		case <-ctx.Done():
		}
		if n, ok := (<-c).(syscall.Signal); ok {
			os.Exit(128 + int(n))
		}
	}()
	return ctx, func() { signal.Stop(c); cancel() }
}
