// Package route joins one source to its outputs: it opens the ends, opens them
// again when they are lost, and says how things stand. It knows ends only
// through the interfaces of package endpoint.
//
// Lives here: Route, its states, the back-off, the Snapshot that everything
// that shows a route reads.
// May import: endpoint, hub, log/slog; srtcore for the type of its counters.
// Never: net, net/http, ingest, control.
package route

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
)

// ErrGaveUp is what a route ends with when an end stayed without a peer for
// Config.GiveUp. It wraps the last failure, if there was one.
var ErrGaveUp = errors.New("gave up waiting for a peer")

// Config is what a Route needs.
type Config struct {
	Name    string // for the log
	Source  endpoint.SourceEnd
	Outputs []endpoint.SinkEnd
	Log     *slog.Logger
	// GiveUp ends the route when an end has had no peer for so long; 0: never.
	GiveUp time.Duration
	// Queue bounds what is kept for each reader, bytes; 0: 5 MiB, about a
	// second of 40 Mbit/s.
	Queue int
	// MaxAge: older media is not sent any more after an interruption; 0: 1 s.
	MaxAge time.Duration
	// Last is how long an output without a peer may go on trying when the
	// source has ended and media is still queued; 0: 5 s.
	Last time.Duration
	// Stop bounds the whole way down after Run's context has ended; 0: 10 s.
	Stop time.Duration
}

func (c *Config) defaults() {
	set := func(p *time.Duration, d time.Duration) {
		if *p == 0 {
			*p = d
		}
	}
	set(&c.MaxAge, time.Second)
	set(&c.Last, 5*time.Second)
	set(&c.Stop, 10*time.Second)
	if c.Queue == 0 {
		c.Queue = 5 << 20
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Name != "" {
		c.Log = c.Log.With("route", c.Name)
	}
}

// Route is one source and its outputs.
type Route struct {
	cfg     Config
	log     *slog.Logger
	hub     *hub.Hub
	source  *end
	outputs []*output
	started time.Time
	ending  chan struct{} // closed when the source has ended for good
}

// New returns a Route that is not running yet.
func New(cfg Config) *Route {
	cfg.defaults()
	r := &Route{cfg: cfg, log: cfg.Log, hub: hub.New(), started: time.Now(), ending: make(chan struct{})}
	r.source = newEnd(cfg.Source)
	for _, e := range cfg.Outputs {
		r.outputs = append(r.outputs, newOutput(r, e))
	}
	return r
}

// Run carries media until the source ends for good, every output has failed
// for good, or ctx ends; then the outputs deliver what they have. A route that
// was told to stop, or whose source came to its end, returns nil.
func (r *Route) Run(ctx context.Context) error {
	defer r.closeEnds()
	if err := r.bind(ctx); err != nil {
		return err
	}
	// The outputs outlive ctx, to deliver the tail.
	outCtx, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	srcCtx, stop := context.WithCancel(ctx)
	defer stop()

	var wg sync.WaitGroup
	for _, o := range r.outputs {
		wg.Go(func() { o.run(outCtx) })
	}
	go func() {
		wg.Wait() // all failed: the source has nobody left to read for
		stop()
	}()

	err := r.runSource(srcCtx)
	r.hub.End()
	close(r.ending)
	r.finish(ctx, abort, &wg)
	return errors.Join(err, r.outputErrors())
}

// finish waits for the outputs: as long as they make progress, but not long
// once somebody wants the route to stop.
func (r *Route) finish(ctx context.Context, abort func(), wg *sync.WaitGroup) {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	t := time.NewTimer(r.cfg.Stop)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		r.log.Warn("outputs did not finish in time", "after", r.cfg.Stop)
		abort()
		<-done
	}
}

// bind claims all addresses first: a port in use must be known before a byte
// of media is taken.
func (r *Route) bind(ctx context.Context) error {
	ends := []endpoint.End{r.cfg.Source}
	for _, e := range r.cfg.Outputs {
		ends = append(ends, e)
	}
	for _, e := range ends {
		b, ok := e.(endpoint.Binder)
		if !ok {
			continue
		}
		if err := b.Listen(ctx); err != nil {
			return fmt.Errorf("%s: %w", e.URL(), err)
		}
		if e.Traits().Listens {
			r.log.Info("listening", "url", e.URL())
		}
	}
	return nil
}

func (r *Route) closeEnds() {
	r.cfg.Source.Close()
	for _, e := range r.cfg.Outputs {
		e.Close()
	}
}

func (r *Route) outputErrors() error {
	var errs []error
	for _, o := range r.outputs {
		if err := o.err(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
