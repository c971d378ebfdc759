// Package route joins one source to its outputs: it opens the ends, opens them
// again when they are lost, and says how things stand. It knows ends only
// through the interfaces of package endpoint.
//
// Lives here: Route, its states, the back-off, fail-over between sources, the
// Snapshot that everything that shows a route reads.
// May import: endpoint, hub, log/slog; srtcore for the type of its counters.
// Never: net, net/http, ingest, control.
package route

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
)

// ErrGaveUp is what a route ends with when an end stayed without a peer for
// Config.GiveUp. It wraps the last failure, if there was one.
var ErrGaveUp = errors.New("gave up waiting for a peer")

// Config is what a Route needs.
type Config struct {
	Name   string // for the log
	Source endpoint.SourceEnd
	// Spares are further sources, in the order of preference behind Source. All
	// are read all the time; the media of one goes on.
	Spares  []endpoint.SourceEnd
	Outputs []endpoint.SinkEnd
	// OutputIDs are the ids of Outputs; nil: OutputID's.
	OutputIDs []string
	Log       *slog.Logger
	Dynamic   bool // made by a request
	// Standing: the route goes on though all its outputs have failed or it has
	// none yet, and though a stream that it has called has ended: that is called
	// again.
	Standing bool
	// OnEvent, if set, is told what an operator wants to know. It must not block.
	OnEvent func(Event)
	// OnBound, if set, is called when all addresses are claimed.
	OnBound func()
	// Monitor, if set, sees every message of the source in use.
	Monitor Monitor
	// FailoverAfter without media makes the next source the one in use; 0: 1 s.
	FailoverAfter time.Duration
	// HoldOff is how long a preferred source must have been back before it is
	// used again; 0: 5 s; negative: not while the other lives.
	HoldOff time.Duration
	// SlowAfter disconnects a listening output's caller that has been losing
	// messages for so long; 0: never.
	SlowAfter time.Duration
	// MaxPlayers bounds the callers of listening outputs, in all; 0: no limit.
	MaxPlayers int
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
	set(&c.FailoverAfter, time.Second)
	set(&c.HoldOff, 5*time.Second)
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

// Monitor looks at the media of a route.
type Monitor interface {
	Feed(msgs [][]byte, at time.Time)
	Snapshot() any
}

// Route is one source and its outputs.
type Route struct {
	cfg     Config
	log     *slog.Logger
	hub     *hub.Hub
	source  *end   // the preferred one
	sources []*end // all
	choice  choice
	fan     fan // the outputs
	started time.Time
	ending  chan struct{} // closed when the source has ended for good
	closed  atomic.Bool   // the ends are
	stop    context.CancelFunc
	stopped context.Context // of Stop
}

// New returns a Route that is not running yet.
func New(cfg Config) *Route {
	cfg.defaults()
	r := &Route{cfg: cfg, log: cfg.Log, hub: hub.New(), started: time.Now(), ending: make(chan struct{})}
	r.stopped, r.stop = context.WithCancel(context.Background())
	for _, e := range append([]endpoint.SourceEnd{cfg.Source}, cfg.Spares...) {
		r.sources = append(r.sources, newEnd(e))
	}
	r.source = r.sources[0]
	r.choice.init(r)
	r.fan.init(r)
	for i, e := range cfg.Outputs {
		id := OutputID(i)
		if cfg.OutputIDs != nil {
			id = cfg.OutputIDs[i]
		}
		_ = r.fan.add(id, e) // the route has not ended
	}
	return r
}

// OutputID is the id of number i of Config.Outputs.
func OutputID(i int) string { return "o" + strconv.Itoa(i+1) }

// Stop ends the route as the end of Run's context would.
func (r *Route) Stop() { r.stop() }

// Run carries media until the source ends for good, every output has failed
// for good, or ctx ends; then the outputs deliver what they have. A route that
// was told to stop, or whose source came to its end, returns nil.
func (r *Route) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.stopped, cancel)()
	defer r.closeEnds()
	if err := r.bind(ctx); err != nil {
		r.fan.end() // whoever adds an output hears that nobody would run it
		return err
	}
	if r.cfg.OnBound != nil {
		r.cfg.OnBound()
	}
	// The outputs outlive ctx, to deliver the tail.
	outCtx, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	srcCtx, stop := context.WithCancel(ctx)
	defer stop()
	r.fan.run(outCtx, stop)

	err := r.runSources(srcCtx)
	r.hub.End()
	close(r.ending)
	r.finish(ctx, abort)
	return errors.Join(err, r.outputErrors())
}

// finish waits for the outputs: as long as they make progress, but not long
// once somebody wants the route to stop.
func (r *Route) finish(ctx context.Context, abort func()) {
	done := r.fan.end()
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
	for _, s := range r.sources {
		if err := r.claim(ctx, s.face); err != nil {
			return err
		}
	}
	for _, o := range r.fan.list() {
		if err := r.claim(ctx, o.face); err != nil {
			return err
		}
	}
	return nil
}

func (r *Route) claim(ctx context.Context, e endpoint.End) error {
	b, ok := e.(endpoint.Binder)
	if !ok {
		return nil
	}
	if err := b.Listen(ctx); err != nil {
		return fmt.Errorf("%s: %w", e.URL(), err)
	}
	if e.Traits().Listens {
		r.log.Info("listening", "url", e.URL())
	}
	return nil
}

func (r *Route) closeEnds() {
	r.closed.Store(true)
	for _, s := range r.sources {
		s.face.Close()
	}
	for _, o := range r.fan.list() {
		o.face.Close()
	}
}

func (r *Route) outputErrors() error {
	var errs []error
	for _, o := range r.fan.list() {
		if err := o.err(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
