package route

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstDelay = 250 * time.Millisecond
	lastDelay  = 10 * time.Second
	// steady is how long a session must last to count as one: a peer that
	// accepts and closes at once is not called four times a second.
	steady = 2 * time.Second
)

// backOff spaces attempts: doubling from a quarter of a second to ten, each a
// little off so that many routes do not call one server in step.
type backOff struct{ delay time.Duration }

// next returns how long to wait after an attempt that took tried: what counts is
// the time from one attempt to the next, and one that nobody answers is long.
func (b *backOff) next(tried time.Duration) time.Duration {
	b.delay = min(max(2*b.delay, firstDelay), lastDelay)
	d := max(b.delay-tried, firstDelay)
	return min(d*9/10+rand.N(d/5), lastDelay)
}

// after is told how long a session lasted.
func (b *backOff) after(session time.Duration) {
	if session >= steady {
		b.delay = 0
	}
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
