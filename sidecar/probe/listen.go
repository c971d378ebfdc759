package probe

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// maxCallers are measured at a time; more are refused.
const maxCallers = 8

// Listen is the far end of probes: it takes callers in until ctx ends, receives
// what they send, and hands each one's report to done.
func Listen(ctx context.Context, o Options, done func(*Report, error)) error {
	if err := o.Check(); err != nil {
		return err
	}
	rt, err := newRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	t, err := o.target(rt)
	if err != nil {
		return err
	}
	if t.Mode != srtcore.ModeListener {
		return &srtcore.OptionError{Option: "mode", Value: t.Mode.String(), Problem: "does not fit --listen", Allowed: "listener, as in srt://:9000"}
	}
	slots := make(chan struct{}, maxCallers)
	t.Config.OnRequest = func(*srtcore.ConnRequest) error {
		if len(slots) == cap(slots) {
			return &srtcore.RejectError{Reason: srtcore.RejOverload}
		}
		return nil
	}
	ln, err := t.Listen(ctx)
	if err != nil {
		return err
	}
	defer ln.Close()
	var calls sync.WaitGroup
	defer calls.Wait()
	var mu sync.Mutex
	for {
		c, err := ln.Accept(ctx)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, srtcore.ErrClosed) {
				return nil
			}
			return err
		}
		slots <- struct{}{}
		calls.Go(func() {
			defer func() { <-slots }()
			r, err := receive(ctx, c, time.Time{})
			c.Abort()
			mu.Lock()
			defer mu.Unlock()
			done(r, err)
		})
	}
}
