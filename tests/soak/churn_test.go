package soak

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

const (
	churnRounds = 24
	churnAtOnce = 16
	churnEach   = 10 // messages of a connection
)

// TestChurn makes and ends a few hundred connections; what they held comes back.
func TestChurn(t *testing.T) {
	before := takeSample()
	rt, err := srtcore.NewRuntime(srtcore.RuntimeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := srtcore.DefaultConfig()
	cfg.Runtime = rt
	cfg.RcvLatency = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := srtcore.Listen(ctx, "127.0.0.1:0", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{}
	for round := range churnRounds {
		errs := make(chan error, 2*churnAtOnce)
		var wg sync.WaitGroup
		for range churnAtOnce {
			wg.Go(func() { errs <- callOnce(ctx, l.Addr().String(), &cfg) })
			wg.Go(func() { errs <- answerOnce(ctx, l) })
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if round >= churnRounds/4 {
			w.samples = append(w.samples, takeSample())
		}
	}
	w.check(t)
	if err := l.Close(); err != nil {
		t.Errorf("closing the listener: %v", err)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("closing the runtime: %v", err)
	}
	wantBack(t, before)
}

func callOnce(ctx context.Context, addr string, cfg *srtcore.Config) error {
	c, err := srtcore.Dial(ctx, addr, cfg)
	if err != nil {
		return err
	}
	msg := make([]byte, messageSize)
	for n := range uint64(churnEach) {
		build(msg, n)
		if _, err := c.Write(msg); err != nil {
			return fmt.Errorf("message %d: %w", n, err)
		}
	}
	return c.Close()
}

func answerOnce(ctx context.Context, l *srtcore.Listener) error {
	c, err := l.Accept(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return receive(c)
}
