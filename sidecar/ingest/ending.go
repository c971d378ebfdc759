package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirline/weirline/sidecar/route"
)

const stopping = "The daemon is stopping."

// errStopping refuses what begins when no more is wanted.
var errStopping = errors.New("the daemon is stopping")

// untilEnding ends with parent, and when no more is wanted.
func (h *Handler) untilEnding(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	if h.Ending == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(h.Ending, cancel)
	return ctx, func() { stop(); cancel() }
}

func (h *Handler) ended(o Outcome) {
	if h.Ended != nil {
		h.Ended(o)
	}
}

// firstOpen opens the session that the client waits for.
func firstOpen[S any](ctx context.Context, giveUp time.Duration, open func(context.Context) (S, error)) (S, error) {
	if giveUp == 0 {
		return open(ctx)
	}
	wait, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	s, err := open(wait)
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w after %v; last: %w", route.ErrGaveUp, giveUp, err)
	}
	return s, err
}
