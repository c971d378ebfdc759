package ingest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// stopTimeout bounds the way down: every route's own bound is shorter.
const stopTimeout = 15 * time.Second

// Serve answers on ln until ctx ends, and then until the routes have delivered
// their tails.
func (h *Handler) Serve(ctx context.Context, ln net.Listener) error {
	h.base = ctx
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(h.log().Handler(), slog.LevelDebug),
		// The end of ctx ends every request, which stops its route.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: withConn,
	}
	stopped := make(chan error, 1)
	ending, cancel := h.untilEnding(ctx)
	defer cancel()
	stop := context.AfterFunc(ending, func() { stopped <- shutdown(ctx, srv) })
	err := srv.Serve(h.inflow.Listener(ln))
	if stop() {
		return err
	}
	if errors.Is(err, http.ErrServerClosed) {
		return <-stopped
	}
	return err
}

// shutdown waits for the running requests: until their own end while ctx lasts,
// then until they have stopped.
func shutdown(ctx context.Context, srv *http.Server) error {
	if err := srv.Shutdown(ctx); ctx.Err() == nil {
		return err
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return srv.Shutdown(wait)
}
