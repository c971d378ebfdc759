// Package config is what the daemon is told: a YAML file, the environment and
// flags become one validated value. It opens nothing and runs nothing.
//
// Lives here: Config and its parts, reading them, what is wrong with them and
// where, watching the file.
// May import: endpoint and srtcore, for the reading of URLs; a YAML library.
// Never: route, daemon, access, control, net/http.
package config

import "time"

// Config is everything `weirline serve` is told. The zero value is not valid;
// see Default. Keys of the file are the names in the yaml tags.
type Config struct {
	// Listen is the address of the URL form over HTTP; host:port, unix:PATH, or
	// "off". Default 127.0.0.1:9710.
	Listen  string  `yaml:"listen"`
	Control Control `yaml:"control"`
	Log     Log     `yaml:"log"`
	// Listeners are SRT ports that routes share by stream id.
	Listeners []Listener `yaml:"listeners"`
	Routes    []Route    `yaml:"routes"`
}

// Control is the API, the metrics and the page.
type Control struct {
	// Listen is host:port, unix:PATH, or "off". Default 127.0.0.1:9711.
	Listen string `yaml:"listen"`
	// Token is demanded from everybody if set; it has to be set if Listen is
	// neither loopback nor a unix socket.
	Token Secret `yaml:"token"`
	// Origins are web pages, besides the daemon's own, that may use the API:
	// scheme://host[:port].
	Origins []string `yaml:"origins"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn, error; default info
	Format string `yaml:"format"` // text, json; default text
}

// Listener is an SRT port whose callers name a route by stream id.
type Listener struct {
	Name string `yaml:"name"`
	// Address is an srt:// URL in mode=listener, with its options, or [host]:port.
	Address string `yaml:"address"`
	// Passphrase is that of callers for whom neither user nor route has one.
	Passphrase Secret `yaml:"passphrase"`
	// MaxConnections at a time; 0: no limit.
	MaxConnections int `yaml:"max-connections"`
	// MaxPerAddress bounds those from one IP address; 0: no limit.
	MaxPerAddress int `yaml:"max-per-address"`
	// Allow and Deny are addresses or prefixes. Deny wins; an empty Allow allows all.
	Allow []string `yaml:"allow"`
	Deny  []string `yaml:"deny"`
	// Hook is asked by an HTTP POST before a caller is accepted.
	Hook *Hook `yaml:"hook"`
	// Users are known by u= of the stream id. Empty: nobody needs a name.
	Users []User `yaml:"users"`
}

// Hook is an HTTP address that decides about callers.
type Hook struct {
	URL string `yaml:"url"`
	// Timeout refuses the caller; default 2 s, at most 2.5 s: callers give up
	// after 3.
	Timeout time.Duration `yaml:"timeout"`
}

// User may publish and play what its patterns allow.
type User struct {
	Name       string   `yaml:"name"`
	Passphrase Secret   `yaml:"passphrase"`
	Publish    []string `yaml:"publish"` // patterns of stream names, * matches any text
	Play       []string `yaml:"play"`
}

// Route is one source, or several of which one is used, and any number of outputs.
type Route struct {
	Name string `yaml:"name"`
	// Sources in the order of preference; `source: URL` is a list of one.
	Sources []Source `yaml:"sources"`
	Outputs []Output `yaml:"outputs"`
	// FailoverAfter without media changes to the next source; default 1 s.
	FailoverAfter time.Duration `yaml:"failover-after"`
	// HoldOff is how long a preferred source has to be there again before it is
	// used again; default 5 s. Negative: never while the other lives.
	HoldOff time.Duration `yaml:"hold-off"`
	// Queue bounds what is kept for a slow output, bytes; default 5 MiB.
	Queue int `yaml:"queue"`
	// MaxAge: older media is not sent after an interruption; default 1 s.
	MaxAge time.Duration `yaml:"max-age"`
	// SlowAfter disconnects a player that was over its queue for so long; 0: never.
	SlowAfter time.Duration `yaml:"slow-after"`
	// MaxPlayers at a time, over all play outputs; 0: no limit.
	MaxPlayers int `yaml:"max-players"`
}

// Source is a URL, or a stream that is published to a listener.
type Source struct {
	URL     string `yaml:"url"`
	Publish *Ref   `yaml:"publish"`
}

// Output is a URL, or a stream that is played from a listener.
type Output struct {
	URL  string `yaml:"url"`
	Play *Ref   `yaml:"play"`
}

// Ref names a stream of a listener.
type Ref struct {
	Listener   string `yaml:"listener"`
	Stream     string `yaml:"stream"` // r= of the stream id, or the whole plain stream id
	Passphrase Secret `yaml:"passphrase"`
}

// Secret is text that shows itself to nobody by accident.
type Secret string

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(hidden)"
}

// MarshalText implements encoding.TextMarshaler, for JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML hides it in written YAML.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }
