package daemon

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/weirline/weirline/sidecar/access"
	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
)

// Apply goes over to another configuration. What did not change is not touched:
// its connections and its media go on. Listeners take new rules over in place; a
// new address makes the port, and the routes that use it, anew. An address that
// cannot be opened is the error, and the rest is as the configuration says.
func (d *Daemon) Apply(cfg *config.Config) error {
	d.change.Lock()
	defer d.change.Unlock()
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return errors.New("the daemon is stopping")
	}
	keep, drop := d.sortListeners(cfg)
	d.stopChanged(cfg, drop)
	for _, l := range drop {
		l.port.Close()
	}
	err := d.openListeners(cfg, keep)
	d.startMissing(cfg)
	d.mu.Lock()
	d.cfg = cfg
	d.mu.Unlock()
	return err
}

// sortListeners updates the listeners that can stay and returns the others.
func (d *Daemon) sortListeners(cfg *config.Config) (keep map[string]*listener, drop []*listener) {
	keep = map[string]*listener{}
	d.mu.Lock()
	listeners := slices.Clone(d.listeners)
	d.mu.Unlock()
	for _, l := range listeners {
		i := slices.IndexFunc(cfg.Listeners, func(c config.Listener) bool { return c.Name == l.cfg.Name })
		if i < 0 {
			drop = append(drop, l)
			continue
		}
		if !reflect.DeepEqual(cfg.Listeners[i], l.cfg) {
			if err := l.port.Update(cfg.Listeners[i]); err != nil {
				drop = append(drop, l)
				continue
			}
			l.cfg = cfg.Listeners[i]
		}
		keep[l.cfg.Name] = l
	}
	return keep, drop
}

// stopChanged ends the routes of the configuration that are gone, are different
// now, or use a listener that goes.
func (d *Daemon) stopChanged(cfg *config.Config, drop []*listener) {
	d.mu.Lock()
	var stay, leave []*running
	for _, r := range d.routes {
		if r.byAPI && !uses(r.cfg, drop) || slices.ContainsFunc(cfg.Routes, func(c config.Route) bool {
			return reflect.DeepEqual(c, r.cfg)
		}) && !uses(r.cfg, drop) {
			stay = append(stay, r)
			continue
		}
		leave = append(leave, r)
	}
	d.routes = stay
	d.mu.Unlock()
	stopAll(leave)
	for _, r := range leave {
		if r.byAPI { // its listener was made anew, or is gone: then it says so
			d.mu.Lock()
			d.routes = append(d.routes, d.launch(r.cfg, true))
			d.mu.Unlock()
		}
	}
}

func uses(r config.Route, gone []*listener) bool {
	for _, ref := range refs(r) {
		if slices.ContainsFunc(gone, func(l *listener) bool { return l.cfg.Name == ref.Listener }) {
			return true
		}
	}
	return false
}

func refs(r config.Route) (all []config.Ref) {
	for _, s := range r.Sources {
		if s.Publish != nil {
			all = append(all, *s.Publish)
		}
	}
	for _, o := range r.Outputs {
		if o.Play != nil {
			all = append(all, *o.Play)
		}
	}
	return all
}

func (d *Daemon) openListeners(cfg *config.Config, keep map[string]*listener) error {
	var errs []error
	var list []*listener
	for _, c := range cfg.Listeners {
		l := keep[c.Name]
		if l == nil {
			var err error
			if l, err = d.open(c); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		list = append(list, l)
	}
	d.mu.Lock()
	d.listeners = list
	d.mu.Unlock()
	return errors.Join(errs...)
}

func (d *Daemon) open(c config.Listener) (*listener, error) {
	p, err := access.NewPort(c, d.log)
	if err != nil {
		return nil, err
	}
	p.OnRefused = func(r access.Refusal) {
		d.event(control.Event{Level: "warn", Kind: "refused", Text: fmt.Sprintf("%s at %s: %s", r.Peer, c.Name, r.Text)})
	}
	if err := p.Listen(d.ctx); err != nil {
		p.Close()
		return nil, err
	}
	return &listener{c, p}, nil
}

// startMissing starts what does not run yet and puts all in the configuration's
// order, those of the API behind.
func (d *Daemon) startMissing(cfg *config.Config) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*running
	for _, c := range cfg.Routes {
		i := slices.IndexFunc(d.routes, func(r *running) bool { return r.cfg.Name == c.Name && !r.byAPI })
		if i >= 0 {
			list = append(list, d.routes[i])
			continue
		}
		list = append(list, d.launch(c, false))
	}
	for _, r := range d.routes {
		if r.byAPI {
			list = append(list, r)
		}
	}
	d.routes = list
}

// AddRoute implements control.Daemon.
func (d *Daemon) AddRoute(cfg config.Route) error {
	d.change.Lock()
	defer d.change.Unlock()
	if cfg.Name == "" {
		return fmt.Errorf("%w: a route needs a name", control.ErrInvalid)
	}
	d.mu.Lock()
	closed := d.closed
	exists := slices.ContainsFunc(d.routes, func(r *running) bool { return r.cfg.Name == cfg.Name })
	trial := d.asItIs()
	d.mu.Unlock()
	switch {
	case closed:
		return errors.New("the daemon is stopping")
	case exists:
		return fmt.Errorf("route %q %w: remove it first, or choose another name", cfg.Name, control.ErrConflict)
	}
	cfg = cfg.WithDefaults()
	trial.Routes = append(trial.Routes, cfg)
	if err := trial.Validate(); err != nil {
		return fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	d.mu.Lock()
	d.routes = append(d.routes, d.launch(cfg, true))
	d.mu.Unlock()
	d.log.Info("route added", "route", cfg.Name)
	d.event(control.Event{Level: "info", Route: cfg.Name, Kind: "added", Text: "route added"})
	return nil
}

// RemoveRoute implements control.Daemon. A route of the file comes back with the
// next start or a change of its entry.
func (d *Daemon) RemoveRoute(name string) error {
	d.change.Lock()
	defer d.change.Unlock()
	d.mu.Lock()
	i := slices.IndexFunc(d.routes, func(r *running) bool { return r.cfg.Name == name })
	var r *running
	if i >= 0 {
		r = d.routes[i]
		d.routes = slices.Delete(slices.Clone(d.routes), i, i+1)
	}
	dynamic := slices.Clone(d.dynamic)
	d.mu.Unlock()
	if r == nil {
		for _, rt := range dynamic {
			if rt.Snapshot().Name == name {
				rt.Stop()
				return nil
			}
		}
		return noRoute(name)
	}
	r.stop()
	d.log.Info("route removed", "route", name)
	d.event(control.Event{Level: "info", Route: name, Kind: "removed", Text: "route removed"})
	return nil
}

func noRoute(name string) error { return fmt.Errorf("route %q: %w", name, control.ErrNotFound) }

// asItIs is the configuration of what runs, with what was added since. It is
// called with the lock held.
func (d *Daemon) asItIs() config.Config {
	c := *d.cfg
	c.Routes = nil
	for _, r := range d.routes {
		cfg := r.cfg
		cfg.Outputs = append(slices.Clone(cfg.Outputs), r.additions()...)
		c.Routes = append(c.Routes, cfg)
	}
	return c
}

// vet refuses an output that is not valid, or wants what another end has.
func (d *Daemon) vet(name string, o config.Output) error {
	d.mu.Lock()
	trial := d.asItIs()
	d.mu.Unlock()
	i := slices.IndexFunc(trial.Routes, func(r config.Route) bool { return r.Name == name })
	if i < 0 {
		return noRoute(name)
	}
	trial.Routes[i].Outputs = append(trial.Routes[i].Outputs, o)
	if err := trial.Validate(); err != nil {
		return fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	return nil
}

// AddOutput implements control.Daemon.
func (d *Daemon) AddOutput(name string, o config.Output) (string, error) {
	d.change.Lock()
	defer d.change.Unlock()
	if err := d.vet(name, o); err != nil {
		return "", err
	}
	r := d.running(name)
	if r == nil {
		return "", noRoute(name)
	}
	rt := r.current()
	if rt == nil {
		return "", fmt.Errorf("route %q does not run: %w", name, r.failure())
	}
	e, err := d.output(o)
	if err != nil {
		return "", fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	id, err := rt.AddOutput(e)
	if err != nil {
		e.Close()
		return "", fmt.Errorf("%w: %w", control.ErrConflict, err)
	}
	r.added(id, &o)
	d.event(control.Event{Level: "info", Route: name, Kind: "added", Text: "output " + id + " added: " + e.URL()})
	return id, nil
}

// RemoveOutput implements control.Daemon.
func (d *Daemon) RemoveOutput(name, id string) error {
	r := d.running(name)
	if r == nil {
		return noRoute(name)
	}
	if rt := r.current(); rt == nil || !rt.RemoveOutput(id) {
		return fmt.Errorf("output %q of route %q: %w", id, name, control.ErrNotFound)
	}
	r.added(id, nil)
	d.event(control.Event{Level: "info", Route: name, Kind: "removed", Text: "output " + id + " removed"})
	return nil
}

func (d *Daemon) running(name string) *running {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.routes {
		if r.cfg.Name == name {
			return r
		}
	}
	return nil
}
