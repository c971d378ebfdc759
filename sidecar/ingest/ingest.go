// Package ingest is the HTTP face of the daemon: a request whose path holds an
// srt:// URL becomes a route. POST and PUT send the body, GET receives.
//
//	POST /srt://host:9000?latency=120          the raw form, taken verbatim
//	GET  /srt/host:9000?latency=120            the same without "://"
//	GET  /srt?url=srt%3A%2F%2Fhost%3A9000      fully escaped
//
// The path is read from the request line and never cleaned: an HTTP router
// would redirect "//" away. Hence a bare http.Handler.
//
// Lives here: Handler, the guard against web pages, errors as HTTP status.
// May import: endpoint, inflow, route, net/http, log/slog. Never: control, srtcore.
package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/inflow"
	"github.com/weirline/weirline/sidecar/route"
)

// End is what both directions of a dynamic URL need of an end.
type End interface {
	endpoint.SourceEnd
	endpoint.SinkEnd
	endpoint.Binder
	Listens() bool
	Addr() string
	Warnings() []string
}

// Handler turns requests into routes. Set the fields before its first request.
type Handler struct {
	// Parse reads the srt:// URL; nil: endpoint.ParseSRT.
	Parse func(raw string) (End, error)
	// Target finds the srt:// URL in a request's URI; nil: behind /srt, as above.
	Target func(requestURI string) (string, error)
	// Hosts are names this daemon is reached by besides loopback ones.
	Hosts []string
	Log   *slog.Logger
	// Register, if set, is told of each request's route until the function that
	// it returns is called.
	Register func(*route.Route) (unregister func())
	// Join is how long an SRT session waits for its client's next PUT; 0: 2 s.
	Join time.Duration
	// Monitor, if set, makes what looks at a request's media.
	Monitor func() route.Monitor
	// Retire, if set, is closed when no more requests are to be taken; those that
	// run go on.
	Retire <-chan struct{}
	// GiveUp ends a request whose SRT end has had no peer for so long; 0: never.
	GiveUp time.Duration
	// AwaitCaller has a client that sends to a listening end, and can wait, wait
	// for the first caller; otherwise what it sends is dropped until one comes.
	AwaitCaller bool
	// Ending, if not nil, ends when nobody wants to receive any more: what is
	// received comes to its end, and what was sent is still delivered.
	Ending context.Context
	// Ended, if not nil, is told how each request ended.
	Ended func(Outcome)

	base   context.Context // of Serve: ends when the daemon stops
	inflow inflow.Reader   // of all requests that publish
	ports  ports
	joins  joins
	serial atomic.Int64
}

// Outcome is how a request ended.
type Outcome struct {
	Publish bool
	Err     error
	// Told: the client knows, since its open failed or its stream broke.
	Told bool
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := h.foreign(r); why != "" {
		h.log().Warn("request refused", "remote", r.RemoteAddr, "why", why)
		fail(w, http.StatusForbidden, why)
		return
	}
	raw, err := h.target(r.RequestURI)
	if err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodPut:
	default:
		w.Header().Set("Allow", "GET, POST, PUT")
		fail(w, http.StatusMethodNotAllowed, "GET receives, POST and PUT send.")
		return
	}
	if err := checkID(raw); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if r.Method == http.MethodPut && h.put(w, r, raw) {
		return
	}
	if r.Method != http.MethodGet {
		h.yield(r.Context(), keyOf(r, raw))
	}
	end, err := h.parse(raw)
	if err != nil {
		h.refuse(w, h.log(), err)
		return
	}
	defer end.Close()
	h.serve(w, r, end)
}

func (h *Handler) parse(raw string) (End, error) {
	if h.Parse != nil {
		return h.Parse(raw)
	}
	return endpoint.ParseSRT(raw)
}

func (h *Handler) target(uri string) (string, error) {
	if h.Target != nil {
		return h.Target(uri)
	}
	return targetURL(uri)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, end End) {
	name := h.name()
	log := h.log().With("route", name)
	h.announce(r, log, end)
	claim, err := h.occupy(r, end)
	if err != nil {
		h.refuse(w, log, err)
		return
	}
	defer claim.release()
	if r.Method == http.MethodGet {
		h.play(w, r, end, name)
		return
	}
	h.publish(w, r, end, name, claim)
}

func (h *Handler) name() string { return fmt.Sprintf("http-%d", h.serial.Add(1)) }

func (h *Handler) announce(r *http.Request, log *slog.Logger, end End) {
	for _, text := range end.Warnings() {
		log.Warn("odd option", "url", end.URL(), "warning", text)
	}
	log.Info("request", "method", r.Method, "url", end.URL(), "remote", r.RemoteAddr)
}

// occupy has an end that listens do so.
func (h *Handler) occupy(r *http.Request, end End) (*claim, error) {
	if !end.Listens() {
		return &claim{}, nil
	}
	c, err := h.ports.claim(r.Context(), end.Addr())
	if err != nil {
		return nil, err
	}
	if err := end.Listen(r.Context()); err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

func (h *Handler) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}

// run makes and runs one request's route.
func (h *Handler) run(ctx context.Context, name string, src endpoint.SourceEnd, out endpoint.SinkEnd) (*route.Route, error) {
	rt := h.route(name, src, out)
	return rt, h.runRoute(ctx, rt)
}

func (h *Handler) route(name string, src endpoint.SourceEnd, out endpoint.SinkEnd) *route.Route {
	cfg := route.Config{Name: name, Dynamic: true, Source: src, Outputs: []endpoint.SinkEnd{out}, Log: h.log(), GiveUp: h.GiveUp}
	if h.Monitor != nil {
		cfg.Monitor = h.Monitor()
	}
	return route.New(cfg)
}

// runRoute runs a route and has it listed meanwhile.
func (h *Handler) runRoute(ctx context.Context, rt *route.Route) error {
	if h.Register != nil {
		defer h.Register(rt)()
	}
	return rt.Run(ctx)
}
