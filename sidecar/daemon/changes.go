package daemon

import (
	"fmt"
	"slices"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
)

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
		return errStopping
	case exists:
		return fmt.Errorf("route %q %w: remove it first, or choose another name", cfg.Name, control.ErrConflict)
	}
	cfg = cfg.WithDefaults()
	trial.Routes = append(trial.Routes, cfg)
	if err := trial.Validate(); err != nil {
		return refuses(&trial, err)
	}
	d.mu.Lock()
	d.routes = append(d.routes, d.launch(cfg, true, nil))
	d.mu.Unlock()
	d.log.Info("route added", "route", cfg.Name)
	d.event(control.Event{Level: "info", Route: cfg.Name, Kind: "added", Text: "route added"})
	return nil
}

// RemoveRoute implements control.Daemon. A route of the file comes back when that is
// read again.
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
		return refuses(&trial, err)
	}
	return nil
}

// AddOutput implements control.Daemon. The output stays until it is removed, also
// when its route begins anew; it ends with the daemon.
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
	return r.add(o)
}

// RemoveOutput implements control.Daemon. An output of the file comes back when its
// route's entry changes, or the daemon starts anew.
func (d *Daemon) RemoveOutput(name, id string) error {
	d.change.Lock()
	defer d.change.Unlock()
	r := d.running(name)
	if r == nil {
		return noRoute(name)
	}
	if !r.remove(id) {
		return fmt.Errorf("output %q of route %q: %w", id, name, control.ErrNotFound)
	}
	r.event("info", "removed", "output "+id+" removed")
	return nil
}

func (d *Daemon) running(name string) *running {
	for _, r := range d.list() {
		if r.cfg.Name == name {
			return r
		}
	}
	return nil
}

func (d *Daemon) list() []*running {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.routes)
}
