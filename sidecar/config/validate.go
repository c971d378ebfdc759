package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// Validate returns a Problems with everything that is wrong in c, or nil.
func (c *Config) Validate() error { return c.problems(c.Named).err() }

// Named says what a key of this value is for those who see no file and no places in
// it: routes[1].outputs[0].url is outputs[0].url of route b.
func (c *Config) Named(key string) string {
	part, rest, _ := strings.Cut(key, ".")
	for i, r := range c.Routes {
		if part == fmt.Sprintf("routes[%d]", i) && r.Name != "" && rest != "" {
			return rest + " of route " + clip(r.Name)
		}
	}
	for i, l := range c.Listeners {
		if part == fmt.Sprintf("listeners[%d]", i) && l.Name != "" && rest != "" {
			return rest + " of listener " + clip(l.Name)
		}
	}
	return key
}

// problems checks c; where says where another key stands, for people.
func (c *Config) problems(where func(key string) string) Problems {
	v := validator{}
	v.listen("listen", c.Listen)
	v.control(&c.Control)
	v.oneOf("log.level", c.Log.Level, logLevels)
	v.oneOf("log.format", c.Log.Format, logFormats)
	for i := range c.Listeners {
		v.listener(fmt.Sprintf("listeners[%d]", i), &c.Listeners[i])
	}
	for i := range c.Routes {
		v.route(fmt.Sprintf("routes[%d]", i), &c.Routes[i])
	}
	v.names(c, where)
	v.refs(c, where)
	v.claims.conflicts(&v, where)
	return v.problems
}

// validator collects problems, and the addresses and files that are claimed.
type validator struct {
	problems Problems
	claims   claims
}

func (v *validator) bad(key, format string, args ...any) {
	v.problems = append(v.problems, Problem{Key: key, Text: fmt.Sprintf(format, args...)})
}

// taken is bad for what another part has.
func (v *validator) taken(key, format string, args ...any) {
	v.bad(key, format, args...)
	v.problems[len(v.problems)-1].Taken = true
}

func (v *validator) oneOf(key, s string, allowed []string) {
	if !slices.Contains(allowed, s) {
		v.bad(key, "%q is refused: allowed %s", clip(s), strings.Join(allowed, ", "))
	}
}

func (v *validator) count(key string, n int, r count) {
	if !r.has(n) {
		v.bad(key, "%d is out of range: allowed %s", n, r)
	}
}

// secret checks the length alone, and never says it.
func (v *validator) secret(key string, s Secret, r count) {
	if s != "" && !r.has(len(s)) {
		v.bad(key, "has a length that is refused: allowed %s", r)
	}
}

func (v *validator) listen(key, s string) (host string) {
	if s == "off" {
		return "off"
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok && path != "" {
		v.claims.add(claim{key: key, kind: "unix", port: strings.TrimPrefix(path, "//")})
		return "unix"
	}
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		v.bad(key, "%q is refused: allowed %s", clip(s), listenAllowed)
		return "off"
	}
	v.claims.add(claim{key: key, kind: "tcp", host: host, port: port})
	return host
}

func (v *validator) control(c *Control) {
	host := v.listen("control.listen", c.Listen)
	v.secret("control.token", c.Token, tokenLength)
	if strings.ContainsFunc(string(c.Token), func(r rune) bool { return r <= ' ' || r > '~' }) {
		v.bad("control.token", "holds a character that a header cannot carry: allowed letters, digits and punctuation")
	}
	if c.Token == "" && !private(host) {
		v.bad("control.token", "is missing: control.listen can be reached from other machines; set control.token, control.token-file or WEIRLINE_CONTROL_TOKEN, or listen on 127.0.0.1 or unix:PATH")
	}
	for i, o := range c.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || o != u.Scheme+"://"+u.Host {
			v.bad(fmt.Sprintf("control.origins[%d]", i), "%q is refused: allowed %s", clip(o), originAllowed)
		}
	}
}

// private reports whether only this machine reaches the host.
func private(host string) bool {
	if host == "off" || host == "unix" || host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

func (v *validator) listener(at string, l *Listener) {
	v.name(at+".name", l.Name)
	if l.Address == "" {
		v.bad(at+".address", "is missing: allowed [host]:port, or srt://[host]:port?options")
	} else if t, err := l.Target(); err != nil {
		v.bad(at+".address", "%v", err)
	} else if host, port, err := net.SplitHostPort(t.Addr); err == nil {
		v.claims.add(claim{key: at + ".address", kind: "udp", host: host, port: port})
	}
	v.secret(at+".passphrase", l.Passphrase, passLength)
	v.count(at+".max-connections", l.MaxConnections, connections)
	v.count(at+".max-per-address", l.MaxPerAddress, connections)
	v.prefixes(at+".allow", l.Allow)
	v.prefixes(at+".deny", l.Deny)
	if h := l.Hook; h != nil {
		u, err := url.Parse(h.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			v.bad(at+".hook.url", "is no address of the web: allowed http://host/path or https://host/path")
		}
		if !hookRange.has(h.Timeout) {
			v.bad(at+".hook.timeout", "%v is out of range: allowed %s, since callers give up after 3s", h.Timeout, hookRange)
		}
	}
	for i := range l.Users {
		v.user(fmt.Sprintf("%s.users[%d]", at, i), &l.Users[i])
	}
}

func (v *validator) prefixes(key string, list []string) {
	for i, s := range list {
		if _, err := ParsePrefix(s); err != nil {
			v.bad(fmt.Sprintf("%s[%d]", key, i), "%v", err)
		}
	}
}

func (v *validator) user(at string, u *User) {
	if !plainText(u.Name, 64) {
		v.bad(at+".name", "%q is refused: allowed %s", clip(u.Name), userAllowed)
	}
	v.secret(at+".passphrase", u.Passphrase, passLength)
	v.patterns(at+".publish", u.Publish)
	v.patterns(at+".play", u.Play)
}

func (v *validator) patterns(key string, list []string) {
	for i, p := range list {
		if !plainText(p, 256) {
			v.bad(fmt.Sprintf("%s[%d]", key, i), "%q is refused: allowed %s", clip(p), patternAllowed)
		}
	}
}

func (v *validator) name(key, s string) {
	ok := s != "" && len(s) <= 64 && !strings.ContainsRune("._-", rune(s[0]))
	for i := range len(s) {
		c := s[i] | 0x20
		ok = ok && (c >= 'a' && c <= 'z' || s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == '_' || s[i] == '-')
	}
	switch {
	case s == "":
		v.bad(key, "is missing: allowed %s", nameAllowed)
	case !ok:
		v.bad(key, "%q is refused: allowed %s", clip(s), nameAllowed)
	}
}

// plainText is what a value in a stream id may be.
func plainText(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.HasPrefix(s, "#!") &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f })
}

func (v *validator) route(at string, r *Route) {
	v.name(at+".name", r.Name)
	if len(r.Sources) == 0 {
		v.bad(at+".sources", "is missing: a route needs source: URL or a list of sources")
	}
	for i := range r.Sources {
		v.source(fmt.Sprintf("%s.sources[%d]", at, i), &r.Sources[i])
		if len(r.Sources) > 1 && strings.HasPrefix(strings.ToLower(r.Sources[i].URL), "file:") {
			v.bad(fmt.Sprintf("%s.sources[%d].url", at, i), "a file cannot be one of several sources, since all are read all the time and a file has no pace of its own: send it in real time from a program, as ffmpeg -re does, to a udp:// or unix: source")
		}
	}
	for i := range r.Outputs {
		v.output(fmt.Sprintf("%s.outputs[%d]", at, i), &r.Outputs[i])
	}
	if !failoverRange.has(r.FailoverAfter) {
		v.bad(at+".failover-after", "%v is out of range: allowed %s", r.FailoverAfter, failoverRange)
	}
	if r.HoldOff > holdOffRange.most {
		v.bad(at+".hold-off", "%v is out of range: allowed %s", r.HoldOff, holdOffRange)
	}
	v.count(at+".queue", r.Queue, queueBytes)
	if !maxAgeRange.has(r.MaxAge) {
		v.bad(at+".max-age", "%v is out of range: allowed %s", r.MaxAge, maxAgeRange)
	}
	if r.SlowAfter != 0 && !slowRange.has(r.SlowAfter) {
		v.bad(at+".slow-after", "%v is out of range: allowed %s", r.SlowAfter, slowRange)
	}
	v.count(at+".max-players", r.MaxPlayers, connections)
}

func (v *validator) source(at string, s *Source) {
	switch {
	case s.URL == "" && s.Publish == nil:
		v.bad(at, "says nothing: allowed url or publish")
	case s.URL != "" && s.Publish != nil:
		v.bad(at, "has url and publish: allowed one of both")
	case s.Publish != nil:
		v.ref(at+".publish", s.Publish)
	default:
		e, err := endpoint.ParseSource(s.URL)
		if v.parsed(at+".url", s.URL, err) {
			v.claims.source(at+".url", e)
		}
	}
}

func (v *validator) output(at string, o *Output) {
	switch {
	case o.URL == "" && o.Play == nil:
		v.bad(at, "says nothing: allowed url or play")
	case o.URL != "" && o.Play != nil:
		v.bad(at, "has url and play: allowed one of both")
	case o.Play != nil:
		v.ref(at+".play", o.Play)
	default:
		e, err := endpoint.ParseSink(o.URL)
		if v.parsed(at+".url", o.URL, err) {
			v.claims.sink(at+".url", e)
		}
	}
}

// parsed reports whether a URL can be used.
func (v *validator) parsed(key, raw string, err error) bool {
	switch {
	case raw == "-" || strings.HasPrefix(strings.ToLower(raw), "file://con") && len(raw) == len("file://con"):
		v.bad(key, "a daemon has no standard input and output: allowed %s", urlAllowed)
	case err != nil && !strings.Contains(raw, ":"):
		v.bad(key, "is not a URL: allowed %s", urlAllowed)
	case err != nil:
		v.bad(key, "%v", err)
	default:
		return true
	}
	return false
}

func (v *validator) ref(at string, r *Ref) {
	if r.Listener == "" {
		v.bad(at+".listener", "is missing: name one of listeners")
	}
	if !plainText(r.Stream, 256) {
		v.bad(at+".stream", "%q is refused: allowed %s", clip(r.Stream), streamAllowed)
	}
	v.secret(at+".passphrase", r.Passphrase, passLength)
}
