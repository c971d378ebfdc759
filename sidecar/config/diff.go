package config

import (
	"fmt"
	"reflect"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// Changes is what differs between two configurations.
type Changes struct {
	Listen, Control, Log bool
	Listeners, Routes    Names
}

// Names are those of parts that came, went or are not what they were.
type Names struct{ Added, Removed, Changed []string }

// None reports whether nothing differs.
func (c Changes) None() bool {
	return !c.Listen && !c.Control && !c.Log && c.Listeners.none() && c.Routes.none()
}

func (n Names) none() bool { return len(n.Added)+len(n.Removed)+len(n.Changed) == 0 }

// Diff says how to come from one configuration to another. The order of routes
// and listeners is no difference.
func Diff(from, to *Config) Changes {
	return Changes{
		Listen:    from.Listen != to.Listen,
		Control:   !reflect.DeepEqual(from.Control, to.Control),
		Log:       from.Log != to.Log,
		Listeners: diff(from.Listeners, to.Listeners, func(l Listener) string { return l.Name }),
		Routes:    diff(from.Routes, to.Routes, func(r Route) string { return r.Name }),
	}
}

func diff[T any](from, to []T, name func(T) string) (n Names) {
	old := map[string]T{}
	for _, t := range from {
		old[name(t)] = t
	}
	for _, t := range to {
		was, ok := old[name(t)]
		switch {
		case !ok:
			n.Added = append(n.Added, name(t))
		case !reflect.DeepEqual(was, t):
			n.Changed = append(n.Changed, name(t))
		}
		delete(old, name(t))
	}
	for _, t := range from {
		if _, left := old[name(t)]; left {
			n.Removed = append(n.Removed, name(t))
		}
	}
	return n
}

// Warnings are remarks on values of a valid configuration that are allowed but
// hardly meant, such as a latency in the wrong unit.
func (c *Config) Warnings() (out []string) {
	note := func(key string, list []string) {
		for _, w := range list {
			out = append(out, key+": "+w)
		}
	}
	for i, l := range c.Listeners {
		if t, err := l.Target(); err == nil {
			note(fmt.Sprintf("listeners[%d].address", i), t.Warnings)
		}
	}
	ends := func(key, raw string) {
		if e, err := endpoint.ParseSRT(raw); err == nil {
			note(key, e.Warnings())
		}
	}
	for i, r := range c.Routes {
		for j, s := range r.Sources {
			ends(fmt.Sprintf("routes[%d].sources[%d].url", i, j), s.URL)
		}
		for j, o := range r.Outputs {
			ends(fmt.Sprintf("routes[%d].outputs[%d].url", i, j), o.URL)
		}
	}
	return out
}
