package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/control/page"
)

// Bounds of a request. A stream (server-sent events) sets its own deadlines.
const (
	maxHeader     = 16 << 10
	maxBody       = 1 << 20
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	stopTimeout   = 3 * time.Second
	minToken      = 16
)

// Options are what a Server is made of.
type Options struct {
	Daemon Daemon
	Log    *slog.Logger
	// Token is demanded of every request if it is not empty. It has to be there
	// unless Loopback is set.
	Token string
	// Origins are web pages besides our own that may use the API:
	// scheme://host[:port]. Their hosts are names of this server, too.
	Origins []string
	// Loopback says that only this machine reaches the listener: a loopback
	// address or a unix socket.
	Loopback bool
	// Trace writes a connection's flight recorder; nil: there is none.
	Trace func(conn *srtcore.Conn, format string, w io.Writer) error
	// Health reads a route.Snapshot's Health for the metrics; nil, or false: none.
	Health func(any) (TSHealth, bool)
}

// Server is the control surface: API, metrics and page.
type Server struct {
	opt     Options
	log     *slog.Logger
	origins []origin
	key     []byte // signs the cookies of the page; as long-lived as the process
	guesses guesses
	live    *sampler
	metrics *prometheus.Registry
	bound   *bound
	streams chan struct{} // a slot for each request that waits or streams
	handler http.Handler
}

// NewServer checks the options; it opens nothing.
func NewServer(o Options) (*Server, error) {
	switch {
	case o.Daemon == nil:
		return nil, errors.New("control: Options.Daemon is missing")
	case o.Token == "" && !o.Loopback:
		return nil, errors.New("control.listen is reachable from other machines and control.token is empty: " +
			"set a token of at least 16 characters, or listen on 127.0.0.1, [::1] or unix:PATH")
	case o.Token != "" && len(o.Token) < minToken:
		return nil, fmt.Errorf("control.token has %d characters: allowed are %d or more; `openssl rand -hex 16` makes one", len(o.Token), minToken)
	}
	s := &Server{opt: o, log: o.Log, key: make([]byte, 32), live: newSampler(o.Daemon), bound: newBound(maxSeries), streams: make(chan struct{}, maxStreams)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, text := range o.Origins {
		or, err := parseOrigin(text)
		if err != nil {
			return nil, err
		}
		s.origins = append(s.origins, or)
	}
	if _, err := rand.Read(s.key); err != nil {
		return nil, err
	}
	s.metrics = newRegistry(o, s.bound)
	s.handler = s.wrap(s.mux())
	return s, nil
}

// Handler answers requests. Statistics move on only while Serve runs.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve answers on ln until ctx ends. It closes ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		// The end of ctx ends the streams.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	sampling, stopSampling := context.WithCancel(ctx)
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		s.live.run(sampling)
	}()
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		stopped <- srv.Shutdown(wait)
	})
	err := srv.Serve(ln)
	stopSampling()
	<-sampled
	if stop() {
		return err
	}
	if err := <-stopped; err != nil {
		srv.Close() // whoever does not take the tail of an answer loses it
	}
	return nil
}

// wrap adds to every answer what all have in common.
func (s *Server) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", page.Policy)
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http's own sentinel
				panic(p)
			}
			s.log.Error("control request failed", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(p))
			problem(w, http.StatusInternalServerError, "This request met a fault of the program. The log has more.")
		}()
		if status, why := s.foreign(w, r); why != "" {
			problem(w, status, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}
