package probe

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// maxCallers are measured at a time; more are refused.
const maxCallers = 8

// listening adds the mode to a URL that has none: a host is the address to listen
// on here.
func listening(url string) string {
	_, query, any := strings.Cut(url, "?")
	switch {
	case !any:
		return url + "?mode=listener"
	case !strings.Contains(query, "mode="):
		return url + "&mode=listener"
	}
	return url
}

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
	o.URL = listening(o.URL)
	t, err := o.target(rt)
	if err != nil {
		return err
	}
	if t.Mode != srtcore.ModeListener {
		return &srtcore.OptionError{Option: "mode", Value: t.Mode.String(), Problem: "does not fit --listen", Allowed: "listener, or none"}
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
