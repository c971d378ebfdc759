package daemon

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/weirline/weirline/sidecar/access"
	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
)

// listener is a port and its configuration.
type listener struct {
	cfg  config.Listener
	port *access.Port
}

// shut is a listener that could not be opened; it is tried again.
type shut struct {
	cfg   config.Listener
	err   error
	since time.Time
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
			d.mu.Lock() // routes that begin look for their listener by its name
			l.cfg = cfg.Listeners[i]
			d.mu.Unlock()
		}
		keep[l.cfg.Name] = l
	}
	return keep, drop
}

// openListeners opens those of cfg that are not in keep, and returns what went
// wrong.
func (d *Daemon) openListeners(cfg *config.Config, keep map[string]*listener) (errs []error) {
	d.mu.Lock()
	before := d.shut
	d.mu.Unlock()
	var list []*listener
	var left []shut
	for _, c := range cfg.Listeners {
		l := keep[c.Name]
		if l == nil {
			var err error
			if l, err = d.open(c); err != nil {
				errs = append(errs, err)
				left = append(left, d.staysShut(before, c, err))
				continue
			}
		}
		list = append(list, l)
	}
	d.mu.Lock()
	d.listeners, d.shut = list, left
	d.mu.Unlock()
	if len(left) > 0 {
		d.repairSoon()
	}
	return errs
}

// staysShut tells why a listener could not be opened, unless that is known.
func (d *Daemon) staysShut(before []shut, c config.Listener, err error) shut {
	s := shut{c, err, time.Now()}
	if i := slices.IndexFunc(before, func(s shut) bool { return s.cfg.Name == c.Name }); i >= 0 {
		s.since = before[i].since
		if before[i].err.Error() == err.Error() {
			return s
		}
	}
	d.log.Error("a listener cannot be opened, trying again", "listener", c.Name, "err", err)
	d.event(control.Event{Level: "error", Kind: "failed", Text: err.Error() + "; it is tried again"})
	return s
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

// reopen tries the listeners that are shut, and has the routes begin that wait for
// one. It is called while nothing else changes.
func (d *Daemon) reopen() (left int) {
	d.mu.Lock()
	before, cfg, open := d.shut, d.cfg, map[string]*listener{}
	for _, l := range d.listeners {
		open[l.cfg.Name] = l
	}
	routes := slices.Clone(d.routes)
	d.mu.Unlock()
	if len(before) == 0 {
		return 0
	}
	left = len(d.openListeners(cfg, open))
	var opened []*listener
	for _, s := range before {
		l := d.listener(s.cfg.Name)
		if l == nil {
			continue
		}
		opened = append(opened, l)
		d.event(control.Event{Level: "info", Kind: "listening", Text: fmt.Sprintf(
			"listener %q is open at %s, after %v", l.cfg.Name, l.port.Snapshot().Address, time.Since(s.since).Round(time.Millisecond))})
	}
	for _, r := range routes {
		if uses(r.cfg, opened) {
			r.hurry()
		}
	}
	return left
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

// noListener is the error of a route or an output that needs one.
func (d *Daemon) noListener(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.shut {
		if s.cfg.Name == name {
			return fmt.Errorf("it needs a listener that is not open: %w", s.err)
		}
	}
	return fmt.Errorf("%w: there is no listener %q: add it to listeners, or name one that is there", control.ErrInvalid, name)
}

// Listeners implements control.Daemon.
func (d *Daemon) Listeners() []control.ListenerSnapshot {
	d.mu.Lock()
	listeners, closed := slices.Clone(d.listeners), slices.Clone(d.shut)
	d.mu.Unlock()
	all := make([]control.ListenerSnapshot, 0, len(listeners)+len(closed))
	for _, l := range listeners {
		s := l.port.Snapshot()
		all = append(all, control.ListenerSnapshot{
			Name: s.Name, Address: s.Address, Connections: s.Connections, Accepted: s.Accepted, Refused: s.Refused,
		})
	}
	for _, s := range closed {
		shot := control.ListenerSnapshot{Name: s.cfg.Name, Refused: map[string]uint64{}, Error: s.err.Error()}
		if t, err := s.cfg.Target(); err == nil {
			shot.Address = t.Addr
		}
		all = append(all, shot)
	}
	return all
}

// Ready is an error as long as something of the configuration does not run.
func (d *Daemon) Ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, s := range d.shut {
		errs = append(errs, s.err)
	}
	for _, r := range d.routes {
		if err := r.failure(); err != nil {
			errs = append(errs, fmt.Errorf("route %s: %w", r.cfg.Name, err))
		}
	}
	return errors.Join(errs...)
}
