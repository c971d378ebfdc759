package daemon

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
)

// additions is what the API has changed in the outputs of a route. It outlives the
// route's restarts, and ends with the daemon: none of it is written to the file.
type additions struct {
	work sync.Mutex // held while an output comes or goes

	mu     sync.Mutex
	serial int
	added  []*addition
	gone   map[string]bool // outputs of the configuration that were removed, by id
	files  map[string]file // that were written to, by URL
}

// file is an output whose content lasts: an end that comes in the place of one that
// has written to it goes on behind that.
type file interface {
	Begun() bool
	Resume()
}

func newAdditions() *additions { return &additions{gone: map[string]bool{}, files: map[string]file{}} }

// addition is one output that was added.
type addition struct {
	id    string
	cfg   config.Output
	url   string // for people
	why   error  // it is not open; nil: it is, as far as known
	since time.Time
}

// carry returns what goes on when the route begins anew as cfg: the outputs that
// were added, and if its entry is the same, those that were removed.
func (a *additions) carry(before, cfg config.Route) *additions {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := newAdditions()
	next.serial = a.serial
	keep := func(o config.Output) {
		if f := a.files[o.URL]; f != nil {
			next.files[o.URL] = f
		}
	}
	for _, one := range a.added {
		next.added = append(next.added, &addition{id: one.id, cfg: one.cfg, url: one.url, since: one.since})
		keep(one.cfg)
	}
	for _, o := range cfg.Outputs {
		keep(o)
	}
	if reflect.DeepEqual(before, cfg) {
		next.gone = a.gone
	}
	return next
}

// output makes an end of the route.
func (r *running) output(o config.Output) (endpoint.SinkEnd, error) {
	e, err := r.d.output(o)
	if f, ok := e.(file); ok && err == nil {
		r.outputs.mu.Lock()
		defer r.outputs.mu.Unlock()
		if before := r.outputs.files[o.URL]; before != nil && before.Begun() {
			f.Resume()
		}
		r.outputs.files[o.URL] = f
	}
	return e, err
}

func (a *additions) list() []*addition {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.added)
}

func (a *additions) isGone(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gone[id]
}

// effective is the configuration of a route as it is now.
func (r *running) effective() config.Route {
	cfg := r.cfg
	cfg.Outputs = nil
	for i, o := range r.cfg.Outputs {
		if !r.outputs.isGone(route.OutputID(i)) {
			cfg.Outputs = append(cfg.Outputs, o)
		}
	}
	for _, a := range r.outputs.list() {
		cfg.Outputs = append(cfg.Outputs, a.cfg)
	}
	return cfg
}

// add adds an output. If the route does not run, it begins with the route.
func (r *running) add(o config.Output) (string, error) {
	r.outputs.work.Lock()
	defer r.outputs.work.Unlock()
	a := &addition{cfg: o, since: time.Now()}
	e, err := r.output(o)
	if err != nil {
		return "", fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	a.url = e.URL()
	r.outputs.mu.Lock()
	r.outputs.serial++
	a.id = "a" + strconv.Itoa(r.outputs.serial)
	r.outputs.mu.Unlock()
	err = route.ErrEnded
	rt := r.current()
	if rt != nil {
		err = rt.AddOutput(a.id, e)
	}
	if err != nil {
		e.Close()
	}
	switch {
	case errors.Is(err, route.ErrEnded) && rt != nil && rt.Played():
		return "", fmt.Errorf("%w: route %q has ended with its source, and begins no more: remove it and add it again", control.ErrConflict, r.cfg.Name)
	case errors.Is(err, route.ErrEnded):
		a.why = errNotYet
	case err != nil && endpoint.Judge(err).Kind == endpoint.Busy:
		return "", &refusal{control.ErrConflict, err}
	case err != nil:
		return "", &refusal{control.ErrInvalid, err}
	}
	r.outputs.mu.Lock()
	r.outputs.added = append(r.outputs.added, a)
	r.outputs.mu.Unlock()
	r.event("info", "added", "output "+a.id+" added: "+a.url)
	return a.id, nil
}

var errNotYet = errors.New("the route does not run")

// remove ends an output for good; false: there is none with this id.
func (r *running) remove(id string) bool {
	r.outputs.work.Lock()
	defer r.outputs.work.Unlock()
	found := r.outputs.forget(id, r.cfg.Outputs)
	if rt := r.current(); found && rt != nil {
		rt.RemoveOutput(id)
	}
	return found
}

// forget notes that the output is not wanted. of are those of the configuration.
func (a *additions) forget(id string, of []config.Output) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.IndexFunc(a.added, func(one *addition) bool { return one.id == id }); i >= 0 {
		delete(a.files, a.added[i].cfg.URL)
		a.added = slices.Delete(a.added, i, i+1)
		return true
	}
	for i, o := range of {
		if route.OutputID(i) == id && !a.gone[id] {
			delete(a.files, o.URL)
			a.gone[id] = true
			return true
		}
	}
	return false
}

// restore gives the route that runs the outputs that were added, as far as it has
// not got them, and returns how many could not be opened.
func (r *running) restore() (left int) {
	rt := r.current()
	if rt == nil {
		return 0
	}
	for _, a := range r.outputs.list() {
		if !r.put(rt, a) {
			left++
		}
	}
	return left
}

// put gives a route one output; false: it could not be opened and is to be tried
// again. What a route that has ended lacks, the next one gets.
func (r *running) put(rt *route.Route, a *addition) bool {
	r.outputs.work.Lock()
	defer r.outputs.work.Unlock()
	if rt.HasOutput(a.id) || !slices.Contains(r.outputs.list(), a) {
		return true
	}
	e, err := r.output(a.cfg)
	if err == nil {
		if err = rt.AddOutput(a.id, e); err != nil {
			e.Close()
		}
	}
	ended := errors.Is(err, route.ErrEnded)
	if ended {
		err = errNotYet
	}
	r.noted(a, err)
	return err == nil || ended
}

// noted keeps how an output stands, and tells what is new.
func (r *running) noted(a *addition, err error) {
	r.outputs.mu.Lock()
	same := err == nil && a.why == nil || err != nil && a.why != nil && err.Error() == a.why.Error()
	if !same {
		a.why, a.since = err, time.Now()
	}
	r.outputs.mu.Unlock()
	switch {
	case same || errors.Is(err, errNotYet):
	case err != nil:
		r.d.log.Error("an output that was added cannot be opened, trying again", "route", r.cfg.Name, "output", a.id, "err", err)
		r.event("error", "failed", fmt.Sprintf("output %s: %v; it is tried again", a.id, err))
	default:
		r.event("info", "added", fmt.Sprintf("output %s is there again: %s", a.id, a.url))
	}
}

// missing shows the outputs that were added and are not in s.
func (r *running) missing(s []route.EndSnapshot) (out []route.EndSnapshot) {
	for _, a := range r.outputs.list() {
		if slices.ContainsFunc(s, func(e route.EndSnapshot) bool { return e.ID == a.id }) {
			continue
		}
		r.outputs.mu.Lock()
		shot := route.EndSnapshot{ID: a.id, URL: a.url, State: route.BackOff, Since: a.since, Sessions: []route.SessionSnapshot{}}
		if a.why != nil {
			shot.Error = a.why.Error()
		}
		r.outputs.mu.Unlock()
		out = append(out, shot)
	}
	return out
}
