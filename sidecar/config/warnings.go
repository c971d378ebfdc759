package config

import (
	"fmt"

	"github.com/weirline/weirline/sidecar/endpoint"
)

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
