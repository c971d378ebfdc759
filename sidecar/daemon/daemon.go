// Package daemon is what `weirline serve` keeps running: the listeners and
// routes of a configuration, those that were added since, and the requests of
// the URL form. It does what the control surface asks and remembers what
// happened.
//
// Lives here: Daemon, the change from one configuration to the next, the events.
// May import: config, access, endpoint, route, control for the types that
// it shows itself in, srtcore. Never: net/http, ingest; no payload is touched here.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/srtcore"
)

// Options are what a Daemon is made of.
type Options struct {
	// Config is what to run first.
	Config *config.Config
	// Path is the file that Reload reads; empty: there is none.
	Path string
	// Load reads Path; nil: config.Load with the process's environment.
	Load    func(path string) (*config.Config, error)
	Log     *slog.Logger
	Level   *slog.LevelVar
	Version string
	// Monitor makes what looks at a route's media; nil: nothing does.
	Monitor func() route.Monitor
	// Inherited finds listening sockets that were there before this process, as
	// endpoint.Inheritor has it; nil: there are none.
	Inherited func(network, addr string) net.Listener
	// Restart is how long a route that could not be started waits; 0: 5 s.
	Restart time.Duration
}

// Daemon runs listeners and routes. Its methods may be called from any
// goroutine.
type Daemon struct {
	opt     Options
	log     *slog.Logger
	started time.Time
	events  events

	reload sync.Mutex // held while a configuration is read and taken over
	change sync.Mutex // one change at a time; held while routes stop

	mu        sync.Mutex
	ctx       context.Context // of Start until Stop; nil before
	cancel    context.CancelFunc
	cfg       *config.Config
	loaded    time.Time
	loadErr   error
	listeners []*listener
	shut      []shut     // listeners that could not be opened
	routes    []*running // in the order of the configuration, then of the API
	dynamic   []*route.Route
	repairing bool
	closed    bool
}

// New returns a Daemon that runs nothing yet.
func New(o Options) *Daemon {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Level == nil {
		o.Level = new(slog.LevelVar)
	}
	if o.Restart == 0 {
		o.Restart = 5 * time.Second
	}
	if o.Load == nil {
		o.Load = func(path string) (*config.Config, error) { return config.Load(path, os.LookupEnv) }
	}
	now := time.Now()
	d := &Daemon{opt: o, log: o.Log, started: now, cfg: &config.Config{}}
	d.events.init()
	if o.Path != "" {
		d.loaded = now
	}
	return d
}

// Start opens the listeners and starts the routes of Options.Config. A listener
// that cannot be opened is the error, and nothing runs then; a route that cannot
// start is tried again. When it returns every route has tried.
func (d *Daemon) Start(ctx context.Context) error {
	d.mu.Lock()
	d.ctx, d.cancel = context.WithCancel(ctx)
	d.mu.Unlock()
	if d.opt.Config == nil {
		return nil
	}
	shut, err := d.apply(d.opt.Config)
	if err = errors.Join(err, errors.Join(shut...)); err != nil {
		d.Stop()
		return err
	}
	for _, r := range d.list() {
		<-r.tried
	}
	return nil
}

// Stop ends all routes, which deliver what they have, and closes the listeners.
func (d *Daemon) Stop() {
	d.change.Lock()
	defer d.change.Unlock()
	d.mu.Lock()
	d.closed = true
	routes, listeners := d.routes, d.listeners
	if d.cancel != nil {
		d.cancel()
	}
	d.mu.Unlock()
	stopAll(routes)
	for _, l := range listeners {
		l.port.Close()
	}
}

func stopAll(routes []*running) {
	var wg sync.WaitGroup
	for _, r := range routes {
		wg.Go(r.stop)
	}
	wg.Wait()
}

// Files are duplicates of all listening sockets of listeners and routes, for the
// process that takes over.
func (d *Daemon) Files() (all []*os.File, err error) {
	d.mu.Lock()
	listeners, routes := slices.Clone(d.listeners), slices.Clone(d.routes)
	d.mu.Unlock()
	sources := make([]func() ([]*os.File, error), 0, len(listeners)+len(routes))
	for _, l := range listeners {
		sources = append(sources, l.port.Files)
	}
	for _, r := range routes {
		if rt := r.current(); rt != nil {
			sources = append(sources, rt.Files)
		}
	}
	for _, f := range sources {
		files, err := f()
		if err != nil {
			for _, f := range all {
				f.Close()
			}
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// handshakeTime is what callers get to finish their handshakes: a few round trips.
const handshakeTime = 400 * time.Millisecond

// Retire leaves callers to come to the process that takes over, and returns when
// those in the middle of a handshake have had the time to finish it.
func (d *Daemon) Retire() {
	d.mu.Lock()
	listeners := slices.Clone(d.listeners)
	d.mu.Unlock()
	for _, l := range listeners {
		l.port.Retire()
	}
	d.each(func(r *route.Route) bool { r.Retire(); return false })
	time.Sleep(handshakeTime)
}

// Status implements control.Daemon.
func (d *Daemon) Status() control.Status {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	d.mu.Lock()
	defer d.mu.Unlock()
	s := control.Status{
		Version: d.opt.Version, Started: d.started, PID: os.Getpid(), ConfigFile: d.opt.Path, Loaded: d.loaded,
		Goroutines: runtime.NumGoroutine(), Threads: threads(), HeapBytes: m.HeapAlloc,
	}
	if d.loadErr != nil {
		s.ConfigError = d.loadErr.Error()
	}
	return s
}

// Routes implements control.Daemon.
func (d *Daemon) Routes() []route.Snapshot {
	d.mu.Lock()
	routes, dynamic := slices.Clone(d.routes), slices.Clone(d.dynamic)
	d.mu.Unlock()
	all := make([]route.Snapshot, 0, len(routes)+len(dynamic))
	for _, r := range routes {
		all = append(all, r.snapshot())
	}
	for _, r := range dynamic {
		all = append(all, r.Snapshot())
	}
	return all
}

// Register lists a route that somebody else runs, a request's, until the
// returned function is called.
func (d *Daemon) Register(r *route.Route) (unregister func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dynamic = append(d.dynamic, r)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if i := slices.Index(d.dynamic, r); i >= 0 {
			d.dynamic = slices.Delete(slices.Clone(d.dynamic), i, i+1)
		}
	}
}

// each calls f for every running route until it returns true.
func (d *Daemon) each(f func(*route.Route) bool) bool {
	d.mu.Lock()
	routes, all := slices.Clone(d.routes), slices.Clone(d.dynamic)
	d.mu.Unlock()
	for _, r := range routes {
		if rt := r.current(); rt != nil {
			all = append(all, rt)
		}
	}
	return slices.ContainsFunc(all, f)
}

// Kick implements control.Daemon.
func (d *Daemon) Kick(id string) error {
	if !d.each(func(r *route.Route) bool { return r.Kick(id) }) {
		return noConnection(id)
	}
	return nil
}

// Connection implements control.Daemon.
func (d *Daemon) Connection(id string) (c *srtcore.Conn, err error) {
	if !d.each(func(r *route.Route) bool { c = r.Connection(id); return c != nil }) {
		return nil, noConnection(id)
	}
	return c, nil
}

func noConnection(id string) error {
	return fmt.Errorf("connection %q: %w: it may have ended", id, control.ErrNotFound)
}

// LogLevel implements control.Daemon.
func (d *Daemon) LogLevel() slog.Level { return d.opt.Level.Level() }

// SetLogLevel implements control.Daemon.
func (d *Daemon) SetLogLevel(l slog.Level) { d.opt.Level.Set(l) }

// Reload implements control.Daemon: a file that is not good changes nothing. A
// listener that cannot be opened is no reason to go back: it is tried again.
func (d *Daemon) Reload() error {
	if d.opt.Path == "" {
		return fmt.Errorf("%w: the daemon was started without --config, so there is nothing to reload", control.ErrInvalid)
	}
	d.reload.Lock() // the file, the API and a signal may ask at once: what was read last is what runs
	defer d.reload.Unlock()
	var shut []error
	cfg, err := d.opt.Load(d.opt.Path)
	if err == nil {
		shut, err = d.apply(cfg)
	} else {
		err = fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	d.mu.Lock()
	d.loadErr = err
	if err == nil {
		d.loaded = time.Now()
	}
	d.mu.Unlock()
	for _, r := range d.list() {
		if err == nil && r.failure() != nil {
			r.hurry()
		}
	}
	switch {
	case err != nil:
		d.log.Error("configuration not taken over; the one before goes on", "file", d.opt.Path, "err", err)
		d.event(control.Event{Level: "error", Kind: "config", Text: "not taken over, the one before goes on: " + err.Error()})
	case len(shut) > 0:
		d.log.Warn("configuration taken over, but not all listeners are open", "file", d.opt.Path, "shut", len(shut))
		d.event(control.Event{Level: "warn", Kind: "config", Text: fmt.Sprintf("taken over from %s; %d listeners are not open", d.opt.Path, len(shut))})
	default:
		d.log.Info("configuration taken over", "file", d.opt.Path)
		d.event(control.Event{Level: "info", Kind: "config", Text: "taken over from " + d.opt.Path})
	}
	return err
}
