package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
)

// running is a route of the daemon: it is made anew when it could not start, or
// ended although it should not.
type running struct {
	d      *Daemon
	cfg    config.Route
	byAPI  bool // a reload leaves it alone
	cancel context.CancelFunc
	done   chan struct{}
	tried  chan struct{} // closed after the first try to claim its addresses
	first  sync.Once

	mu    sync.Mutex
	route *route.Route             // nil: none could be made yet
	extra map[string]config.Output // added to route since, by id
	why   error                    // it is not running
	since time.Time                // of why
}

// launch starts a route.
func (d *Daemon) launch(cfg config.Route, byAPI bool) *running {
	ctx, cancel := context.WithCancel(d.ctx)
	r := &running{d: d, cfg: cfg, byAPI: byAPI, cancel: cancel, done: make(chan struct{}), tried: make(chan struct{})}
	go r.run(ctx)
	return r
}

// stop ends the route and waits until it has delivered what it has.
func (r *running) stop() {
	r.cancel()
	<-r.done
}

func (r *running) run(ctx context.Context) {
	defer close(r.done)
	defer r.settle()
	for {
		err := r.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it has ended")
		}
		r.failed(err)
		r.d.log.Error("route does not run, trying again", "route", r.cfg.Name, "err", err, "in", r.d.opt.Restart)
		t := time.NewTimer(r.d.opt.Restart)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

func (r *running) settle() { r.first.Do(func() { close(r.tried) }) }

// bound is called when the route has its addresses.
func (r *running) bound() {
	r.mu.Lock()
	r.why = nil
	r.mu.Unlock()
	r.settle()
}

func (r *running) failed(err error) {
	defer r.settle()
	r.mu.Lock()
	said := r.why != nil && r.why.Error() == err.Error()
	if !said {
		r.since = time.Now()
	}
	r.why = err
	r.mu.Unlock()
	if !said {
		r.d.event(control.Event{Level: "error", Route: r.cfg.Name, Kind: "failed", Text: err.Error()})
	}
}

// once makes the route and runs it to its end.
func (r *running) once(ctx context.Context) error {
	rt, err := r.d.build(r.cfg, r.bound)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.route, r.extra = rt, nil
	r.mu.Unlock()
	return rt.Run(ctx)
}

// added notes an output of the route that runs; nil: it was removed.
func (r *running) added(id string, o *config.Output) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o == nil {
		delete(r.extra, id)
		return
	}
	if r.extra == nil {
		r.extra = map[string]config.Output{}
	}
	r.extra[id] = *o
}

func (r *running) additions() []config.Output {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.extra))
}

func (r *running) current() *route.Route {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.route
}

func (r *running) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

func (r *running) snapshot() route.Snapshot {
	r.mu.Lock()
	rt, why, since := r.route, r.why, r.since
	r.mu.Unlock()
	s := route.Snapshot{Time: time.Now(), Name: r.cfg.Name, Outputs: []route.EndSnapshot{}}
	s.Source.Sessions = []route.SessionSnapshot{}
	if rt != nil {
		s = rt.Snapshot()
	}
	if why != nil {
		s.Source.State, s.Source.Since, s.Source.Error = route.Failed, since, why.Error()
	}
	return s
}

// build makes a route of its configuration.
func (d *Daemon) build(cfg config.Route, bound func()) (*route.Route, error) {
	var sources []endpoint.SourceEnd
	var outputs []endpoint.SinkEnd
	var err error
	defer func() {
		if err == nil {
			return
		}
		for _, e := range sources {
			e.Close()
		}
		for _, e := range outputs {
			e.Close()
		}
	}()
	for _, s := range cfg.Sources {
		var e endpoint.SourceEnd
		if e, err = d.source(s); err != nil {
			return nil, err
		}
		sources = append(sources, e)
	}
	if len(sources) == 0 {
		err = fmt.Errorf("route %q has no source", cfg.Name)
		return nil, err
	}
	for _, o := range cfg.Outputs {
		var e endpoint.SinkEnd
		if e, err = d.output(o); err != nil {
			return nil, err
		}
		outputs = append(outputs, e)
	}
	for _, s := range sources {
		endpoint.FitMessages(s, outputs...)
	}
	return route.New(route.Config{
		Name: cfg.Name, Source: sources[0], Spares: sources[1:], Outputs: outputs, Log: d.log, Standing: true, OnBound: bound,
		Monitor: d.monitor(), FailoverAfter: cfg.FailoverAfter, HoldOff: cfg.HoldOff,
		Queue: cfg.Queue, MaxAge: cfg.MaxAge, SlowAfter: cfg.SlowAfter, MaxPlayers: cfg.MaxPlayers,
		OnEvent: func(e route.Event) {
			d.event(control.Event{Level: string(e.Level), Route: cfg.Name, Kind: e.Kind, Text: e.Text})
		},
	}), nil
}

func (d *Daemon) monitor() route.Monitor {
	if d.opt.Monitor == nil {
		return nil
	}
	return d.opt.Monitor()
}

func (d *Daemon) source(s config.Source) (endpoint.SourceEnd, error) {
	if s.Publish == nil {
		return endpoint.ParseSource(s.URL)
	}
	l := d.listener(s.Publish.Listener)
	if l == nil {
		return nil, noListener(s.Publish.Listener)
	}
	return l.port.Publish(*s.Publish)
}

func (d *Daemon) output(o config.Output) (endpoint.SinkEnd, error) {
	if o.Play == nil {
		return endpoint.ParseSink(o.URL)
	}
	l := d.listener(o.Play.Listener)
	if l == nil {
		return nil, noListener(o.Play.Listener)
	}
	return l.port.Play(*o.Play)
}

func noListener(name string) error {
	return fmt.Errorf("%w: there is no listener %q: add it to listeners, or name one that is there", control.ErrInvalid, name)
}

func (d *Daemon) listener(name string) *listener {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.listeners {
		if l.cfg.Name == name {
			return l
		}
	}
	return nil
}
