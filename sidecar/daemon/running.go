package daemon

import (
	"context"
	"errors"
	"fmt"
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
	d       *Daemon
	cfg     config.Route
	byAPI   bool // a reload leaves it alone
	outputs *additions
	cancel  context.CancelFunc
	done    chan struct{}
	tried   chan struct{} // closed after the first try to claim its addresses
	first   sync.Once
	again   chan struct{} // has a token: try at once

	mu    sync.Mutex
	route *route.Route // nil: none could be made yet
	why   error        // it is not running
	since time.Time    // of why
	told  string       // the last failure that there was an event of
}

// steady is how long a route must have run for its next failure to be news.
const steady = time.Minute

// launch starts a route. before, if not nil, is the one of this name that it
// follows, and whose outputs it goes on with.
func (d *Daemon) launch(cfg config.Route, byAPI bool, before *running) *running {
	ctx, cancel := context.WithCancel(d.ctx)
	r := &running{
		d: d, cfg: cfg, byAPI: byAPI, cancel: cancel,
		done: make(chan struct{}), tried: make(chan struct{}), again: make(chan struct{}, 1),
	}
	if before != nil {
		r.outputs = before.outputs.carry(before.cfg, cfg)
		if rt := before.current(); rt != nil && rt.Played() {
			r.outputs.files = map[string]file{} // they hold all there was, and are made anew
		}
	} else {
		r.outputs = newAdditions()
	}
	go r.run(ctx)
	return r
}

// stop ends the route and waits until it has delivered what it has.
func (r *running) stop() {
	r.cancel()
	<-r.done
}

// hurry has a route that waits to be tried again tried now.
func (r *running) hurry() {
	select {
	case r.again <- struct{}{}:
	default:
	}
}

func (r *running) run(ctx context.Context) {
	defer close(r.done)
	defer r.settle()
	for {
		begun := time.Now()
		how, err := r.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if how == played {
			r.ended(err)
			<-ctx.Done()
			return
		}
		r.failed(how, err, time.Since(begun) > steady)
		if !r.pause(ctx, how) {
			return
		}
	}
}

// outcome is how a route came to its end.
type outcome int

const (
	broken  outcome = iota // it is tried again
	refused                // it is tried again when somebody wants it: the peer may shut out those who guess
	played                 // there is no more to come
)

// pause waits until the route is to be tried again; false: it is not.
func (r *running) pause(ctx context.Context, how outcome) bool {
	var again <-chan time.Time
	if how != refused {
		t := time.NewTimer(r.d.opt.Restart)
		defer t.Stop()
		again = t.C
	}
	select {
	case <-again:
	case <-r.again:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func (r *running) settle() { r.first.Do(func() { close(r.tried) }) }

// bound is called when the route has its addresses, and before it begins.
func (r *running) bound() {
	r.mu.Lock()
	r.why = nil
	r.mu.Unlock()
	if r.restore() > 0 {
		r.d.repairSoon()
	}
	r.settle()
}

// ended tells that all has been played.
func (r *running) ended(err error) {
	how := "a change of its entry, or a restart, plays it again"
	if r.byAPI {
		how = "remove it and add it again to play it again"
	}
	level, text := "info", "its source has come to its end; "+how
	if err != nil {
		level, text = "warn", text+"; not all went well: "+err.Error()
	}
	r.d.log.Info("route has ended", "route", r.cfg.Name, "err", err)
	r.event(level, "ended", text)
}

// failed notes why the route does not run. news: it ran for long.
func (r *running) failed(how outcome, err error, news bool) {
	defer r.settle()
	next := "it is tried again"
	if how == refused {
		next = "it is not tried again before its entry changes or the configuration is read again"
	}
	r.mu.Lock()
	if r.why == nil || r.why.Error() != err.Error() {
		r.since = time.Now()
	}
	r.why = err
	said := r.told == err.Error() && !news
	r.told = err.Error()
	r.mu.Unlock()
	r.d.log.Error("route does not run", "route", r.cfg.Name, "err", err, "next", next)
	if !said {
		r.event("error", "failed", err.Error()+"; "+next)
	}
}

func (r *running) event(level, kind, text string) {
	r.d.event(control.Event{Level: level, Route: r.cfg.Name, Kind: kind, Text: text})
}

// once makes the route and runs it to its end.
func (r *running) once(ctx context.Context) (outcome, error) {
	rt, err := r.d.build(r)
	if err != nil {
		return broken, err
	}
	r.mu.Lock()
	r.route = rt
	r.mu.Unlock()
	err = rt.Run(ctx)
	switch {
	case rt.Played():
		return played, err
	case rt.Refused():
		return refused, err
	case err == nil:
		err = errors.New("it has ended")
	}
	return broken, err
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
	s.Outputs = append(s.Outputs, r.missing(s.Outputs)...)
	if why != nil {
		s.Source.State, s.Source.Since, s.Source.Error = route.Failed, since, why.Error()
	}
	return s
}

// build makes a route of its configuration.
func (d *Daemon) build(r *running) (*route.Route, error) {
	cfg := r.cfg
	var sources []endpoint.SourceEnd
	var outputs []endpoint.SinkEnd
	var ids []string
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
	for i, o := range cfg.Outputs {
		id := route.OutputID(i)
		if r.outputs.isGone(id) {
			continue
		}
		var e endpoint.SinkEnd
		if e, err = r.output(o); err != nil {
			return nil, err
		}
		outputs, ids = append(outputs, e), append(ids, id)
	}
	for _, s := range sources {
		endpoint.FitMessages(s, outputs...)
	}
	return route.New(route.Config{
		Name: cfg.Name, Source: sources[0], Spares: sources[1:], Outputs: outputs, OutputIDs: ids, Log: d.log, Standing: true, OnBound: r.bound,
		Monitor: d.monitor(), FailoverAfter: cfg.FailoverAfter, HoldOff: holdOff(cfg),
		Queue: cfg.Queue, MaxAge: cfg.MaxAge, SlowAfter: cfg.SlowAfter, MaxPlayers: cfg.MaxPlayers,
		OnEvent: func(e route.Event) { r.event(string(e.Level), e.Kind, e.Text) },
	}), nil
}

// holdOff is the route's: 0 is at once, which is not what it means to package route.
func holdOff(cfg config.Route) time.Duration {
	if cfg.HoldOff == 0 {
		return 1
	}
	return cfg.HoldOff
}

func (d *Daemon) monitor() route.Monitor {
	if d.opt.Monitor == nil {
		return nil
	}
	return d.opt.Monitor()
}

func (d *Daemon) source(s config.Source) (endpoint.SourceEnd, error) {
	if s.Publish == nil {
		e, err := endpoint.ParseSource(s.URL)
		return e, d.inherits(e, err)
	}
	l := d.listener(s.Publish.Listener)
	if l == nil {
		return nil, d.noListener(s.Publish.Listener)
	}
	return l.port.Publish(*s.Publish)
}

// inherits lets an end have the socket that was there before.
func (d *Daemon) inherits(e endpoint.End, err error) error {
	if i, ok := e.(endpoint.Inheritor); ok && err == nil && d.opt.Inherited != nil {
		i.Inherit(d.opt.Inherited)
	}
	return err
}

func (d *Daemon) output(o config.Output) (endpoint.SinkEnd, error) {
	if o.Play == nil {
		e, err := endpoint.ParseSink(o.URL)
		return e, d.inherits(e, err)
	}
	l := d.listener(o.Play.Listener)
	if l == nil {
		return nil, d.noListener(o.Play.Listener)
	}
	return l.port.Play(*o.Play)
}
