package config

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// names wants every name once.
func (v *validator) names(c *Config, where func(string) string) {
	seen := map[string]string{}
	once := func(kind, key, name string) {
		if name == "" {
			return
		}
		if first, twice := seen[kind+name]; twice {
			v.taken(key, "%q is the name of %s already: give each a name of its own", clip(name), where(first))
			return
		}
		seen[kind+name] = key
	}
	for i, l := range c.Listeners {
		at := fmt.Sprintf("listeners[%d]", i)
		once("listener ", at+".name", l.Name)
		for j, u := range l.Users {
			once(at+" user ", fmt.Sprintf("%s.users[%d].name", at, j), u.Name)
		}
	}
	for i, r := range c.Routes {
		once("route ", fmt.Sprintf("routes[%d].name", i), r.Name)
	}
}

// refs wants every listener that is named to be there, and every stream to have
// one route a direction.
func (v *validator) refs(c *Config, where func(string) string) {
	var known []string
	for _, l := range c.Listeners {
		known = append(known, l.Name)
	}
	seen := map[[3]string]string{}
	check := func(at, way string, r *Ref) {
		if r == nil || r.Listener == "" {
			return
		}
		if !slices.Contains(known, r.Listener) {
			text := "there are no listeners"
			if len(known) > 0 {
				text = "allowed " + clip(strings.Join(known, ", "))
			}
			v.bad(at+".listener", "%q is no listener of this file: %s", clip(r.Listener), text)
			return
		}
		id := [3]string{way, r.Listener, r.Stream}
		if first, twice := seen[id]; twice {
			v.taken(at+".stream", "listener %q has %q to %s already, by %s: give it another name", r.Listener, clip(r.Stream), way, where(first))
			return
		}
		seen[id] = at
	}
	for i, r := range c.Routes {
		for j, s := range r.Sources {
			check(fmt.Sprintf("routes[%d].sources[%d].publish", i, j), "publish", s.Publish)
		}
		for j, o := range r.Outputs {
			check(fmt.Sprintf("routes[%d].outputs[%d].play", i, j), "play", o.Play)
		}
	}
}

// claim is something that only one part of the daemon can have: a port to listen
// on, a socket file, a file to write.
type claim struct {
	key  string
	kind string // udp, tcp, unix, file
	host string // udp, tcp
	port string // udp, tcp; of the others the path
}

type claims []claim

func (c *claims) add(n claim) {
	switch n.kind {
	case "unix", "file":
		n.port = filepath.Clean(n.port)
	default:
		p, err := net.LookupPort(n.kind, n.port)
		if err != nil || p == 0 {
			return // any free one
		}
		n.port = fmt.Sprint(p)
	}
	*c = append(*c, n)
}

// source and sink note what an end will claim, by its URL.
func (c *claims) source(key string, e endpoint.End) {
	scheme, rest := parts(e.URL())
	if scheme == "udp" {
		host, port, err := net.SplitHostPort(rest)
		if a, aerr := netip.ParseAddr(host); err == nil && (aerr != nil || !a.IsMulticast()) {
			c.add(claim{key, "udp", host, port})
		}
		return
	}
	c.listening(key, scheme, rest, e)
}

func (c *claims) sink(key string, e endpoint.End) {
	scheme, rest := parts(e.URL())
	if f, ok := e.(interface{ Path() string }); ok {
		c.add(claim{key: key, kind: "file", port: f.Path()})
		return
	}
	c.listening(key, scheme, rest, e)
}

func (c *claims) listening(key, scheme, rest string, e endpoint.End) {
	if !e.Traits().Listens {
		return
	}
	if s, ok := e.(*endpoint.SRT); ok {
		scheme, rest = "udp", s.Addr()
	}
	switch scheme {
	case "unix":
		c.add(claim{key: key, kind: "unix", port: rest})
	case "udp", "tcp":
		if host, port, err := net.SplitHostPort(rest); err == nil {
			c.add(claim{key, scheme, host, port})
		}
	}
}

// parts returns the scheme and the address, without options.
func parts(raw string) (scheme, rest string) {
	scheme, rest, _ = strings.Cut(raw, ":")
	rest, _, _ = strings.Cut(strings.TrimPrefix(rest, "//"), "?")
	return scheme, rest
}

func (c claims) conflicts(v *validator, where func(string) string) {
	same := map[string][]claim{}
	for _, n := range c {
		id := n.kind + " " + n.port
		for _, o := range same[id] {
			if n.kind != "unix" && n.kind != "file" && !overlap(n.host, o.host) {
				continue
			}
			if n.kind == "file" {
				v.taken(n.key, "the file is written by %s already: name another", where(o.key))
			} else if n.kind == "unix" {
				v.taken(n.key, "the socket is used by %s already: name another", where(o.key))
			} else {
				v.taken(n.key, "%s port %s is used by %s already: choose another", n.kind, n.port, where(o.key))
			}
			break
		}
		same[id] = append(same[id], n)
	}
}

// overlap reports whether two hosts cannot both listen on one port. Of names
// only the same ones are known to be the same.
func overlap(a, b string) bool {
	x, okX := hostOf(a)
	y, okY := hostOf(b)
	all, any4 := netip.IPv6Unspecified(), netip.IPv4Unspecified()
	switch {
	case okX && x == all, okY && y == all:
		return true
	case !okX || !okY:
		return a == b
	}
	return x == y || x == any4 && y.Is4() || y == any4 && x.Is4()
}

// hostOf is the address of a host; false: it is a name.
func hostOf(s string) (netip.Addr, bool) {
	switch s {
	case "", "*":
		return netip.IPv6Unspecified(), true
	case "localhost":
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	a, err := netip.ParseAddr(s)
	return a.Unmap(), err == nil
}
