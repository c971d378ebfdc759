package daemon

import (
	"errors"
	"reflect"
	"slices"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
)

var errStopping = errors.New("the daemon is stopping")

// Apply goes over to another configuration. What did not change is not touched:
// its connections and its media go on. Listeners take new rules over in place; a
// new address makes the port, and the routes that use it, anew. A listener that
// cannot be opened is in shut, and is tried again; the rest is as the
// configuration says.
func (d *Daemon) apply(cfg *config.Config) (shut []error, err error) {
	d.change.Lock()
	defer d.change.Unlock()
	if d.isClosed() {
		return nil, errStopping
	}
	keep, drop := d.sortListeners(cfg)
	carried := d.stopChanged(cfg, drop)
	for _, l := range drop {
		l.port.Close()
	}
	shut = d.openListeners(cfg, keep)
	d.startMissing(cfg, carried)
	d.mu.Lock()
	d.cfg = cfg
	d.mu.Unlock()
	return shut, nil
}

func (d *Daemon) isClosed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// stopChanged ends the routes that are gone from the configuration, are different
// now, or use a listener that goes. It returns those that have to begin anew, by
// name: what was added to them outlives them.
func (d *Daemon) stopChanged(cfg *config.Config, drop []*listener) map[string]*running {
	d.mu.Lock()
	var stay, leave []*running
	for _, r := range d.routes {
		if r.wanted(cfg) && !uses(r.effective(), drop) {
			stay = append(stay, r)
		} else {
			leave = append(leave, r)
		}
	}
	d.routes = stay
	d.mu.Unlock()
	stopAll(leave)
	carried := map[string]*running{}
	for _, r := range leave {
		carried[r.cfg.Name] = r
	}
	return carried
}

// wanted reports whether cfg leaves the route as it is. One of the API gives way
// to one of the file with its name.
func (r *running) wanted(cfg *config.Config) bool {
	i := slices.IndexFunc(cfg.Routes, func(c config.Route) bool { return c.Name == r.cfg.Name })
	if r.byAPI {
		return i < 0
	}
	return i >= 0 && reflect.DeepEqual(cfg.Routes[i], r.cfg)
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

// startMissing starts what does not run yet and puts all in the configuration's
// order, those of the API behind.
func (d *Daemon) startMissing(cfg *config.Config, carried map[string]*running) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*running
	for _, c := range cfg.Routes {
		i := slices.IndexFunc(d.routes, func(r *running) bool { return r.cfg.Name == c.Name && !r.byAPI })
		if i >= 0 {
			list = append(list, d.routes[i])
			continue
		}
		list = append(list, d.launch(c, false, carried[c.Name]))
		delete(carried, c.Name)
	}
	for _, r := range d.routes {
		if r.byAPI {
			list = append(list, r)
		}
	}
	for _, r := range carried {
		if r.byAPI { // its listener was made anew, or is gone: then it says so
			list = append(list, d.launch(r.cfg, true, r))
		}
	}
	d.routes = list
}

// asItIs is the configuration of what runs, with what was added since. It is
// called with the lock held.
func (d *Daemon) asItIs() config.Config {
	c := *d.cfg
	c.Routes = nil
	for _, r := range d.routes {
		c.Routes = append(c.Routes, r.effective())
	}
	return c
}

// refuses says of what Validate found whether it is an address or a name that is
// taken, with the names of routes instead of their places.
func refuses(c *config.Config, err error) error {
	kind := control.ErrInvalid
	if p, ok := errors.AsType[config.Problems](err); ok {
		for i := range p {
			p[i].Key = c.Named(p[i].Key)
		}
		if p.Taken() {
			kind = control.ErrConflict
		}
	}
	return &refusal{kind, err}
}

// refusal is why, and of a kind of package control.
type refusal struct{ kind, why error }

func (r *refusal) Error() string   { return r.why.Error() }
func (r *refusal) Unwrap() []error { return []error{r.kind, r.why} }
