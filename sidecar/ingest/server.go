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
	base, end := context.WithCancel(ctx)
	defer h.finishJoins()
	h.base = base
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
	done := make(chan struct{})
	defer close(done)
	retired := make(chan error, 1)
	if h.Retire != nil {
		go func() {
			select {
			case <-h.Retire:
				retired <- srv.Shutdown(ctx)
			case <-done:
			}
		}()
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		stopped <- srv.Shutdown(wait)
	})
	err := srv.Serve(h.inflow.Listener(ln))
	if !errors.Is(err, http.ErrServerClosed) {
		stop()
		end() // of the sessions that outlive their requests
		return err
	}
	defer end()
	select {
	case err = <-stopped:
	case err = <-retired:
		if stop() || err == nil {
			break
		}
		err = <-stopped // told to stop while it waited for the last requests
	}
	return err
}
