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
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/access"
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

	change sync.Mutex // one change at a time; held while routes stop

	mu        sync.Mutex
	ctx       context.Context // of Run; nil before
	cfg       *config.Config
	loaded    time.Time
	loadErr   error
	listeners []*listener
	routes    []*running // in the order of the configuration, then of the API
	dynamic   []*route.Route
	closed    bool
}

// listener is a port and its configuration.
type listener struct {
	cfg  config.Listener
	port *access.Port
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
	d.ctx = ctx
	d.mu.Unlock()
	if d.opt.Config == nil {
		return nil
	}
	if err := d.Apply(d.opt.Config); err != nil {
		d.Stop()
		return err
	}
	d.mu.Lock()
	routes := slices.Clone(d.routes)
	d.mu.Unlock()
	for _, r := range routes {
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

// Files are duplicates of all listening SRT sockets, for the process that takes
// over.
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

// Listeners implements control.Daemon.
func (d *Daemon) Listeners() []control.ListenerSnapshot {
	d.mu.Lock()
	listeners := slices.Clone(d.listeners)
	d.mu.Unlock()
	all := make([]control.ListenerSnapshot, 0, len(listeners))
	for _, l := range listeners {
		s := l.port.Snapshot()
		all = append(all, control.ListenerSnapshot{
			Name: s.Name, Address: s.Address, Connections: s.Connections, Accepted: s.Accepted, Refused: s.Refused,
		})
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

// Reload implements control.Daemon: a file that is not good changes nothing.
func (d *Daemon) Reload() error {
	if d.opt.Path == "" {
		return fmt.Errorf("%w: the daemon was started without --config, so there is nothing to reload", control.ErrInvalid)
	}
	cfg, err := d.opt.Load(d.opt.Path)
	if err == nil {
		err = d.Apply(cfg)
	} else {
		err = fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	d.mu.Lock()
	d.loadErr = err
	if err == nil {
		d.loaded = time.Now()
	}
	d.mu.Unlock()
	if err != nil {
		d.log.Error("configuration not taken over; the one before goes on", "file", d.opt.Path, "err", err)
		d.event(control.Event{Level: "error", Kind: "config", Text: "not taken over, the one before goes on: " + err.Error()})
		return err
	}
	d.log.Info("configuration taken over", "file", d.opt.Path)
	d.event(control.Event{Level: "info", Kind: "config", Text: "taken over from " + d.opt.Path})
	return nil
}

// Ready is an error as long as something of the configuration does not run.
func (d *Daemon) Ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, r := range d.routes {
		if err := r.failure(); err != nil {
			errs = append(errs, fmt.Errorf("route %s: %w", r.cfg.Name, err))
		}
	}
	return errors.Join(errs...)
}
