package config

import (
	"fmt"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Default is what holds where the file says nothing.
func Default() Config {
	return Config{
		Listen:  "127.0.0.1:9710",
		Control: Control{Listen: "127.0.0.1:9711"},
		Log:     Log{Level: "info", Format: "text"},
	}
}

// defaultRoute is a route for which the file names nothing but its ends.
func defaultRoute() Route {
	return Route{FailoverAfter: time.Second, HoldOff: 5 * time.Second, Queue: 5 << 20, MaxAge: time.Second}
}

// WithDefaults returns r with the defaults in the places where zero is not allowed,
// for routes that were not read.
func (r Route) WithDefaults() Route {
	d := defaultRoute()
	if r.FailoverAfter == 0 {
		r.FailoverAfter = d.FailoverAfter
	}
	if r.Queue == 0 {
		r.Queue = d.Queue
	}
	if r.MaxAge == 0 {
		r.MaxAge = d.MaxAge
	}
	return r
}

func defaultHook() Hook { return Hook{Timeout: 2 * time.Second} }

// count is a range of whole numbers.
type count struct {
	least, most int
	unit        string
}

func (r count) String() string { return fmt.Sprintf("%d..%d%s", r.least, r.most, r.unit) }

func (r count) has(n int) bool { return n >= r.least && n <= r.most }

// span is a range of durations.
type span struct {
	least, most time.Duration
	also        string // a value that stands for something else
}

func (r span) String() string {
	s := short(r.least) + ".." + short(r.most)
	if r.also != "" {
		s += ", or " + r.also
	}
	return s
}

func (r span) has(d time.Duration) bool { return d >= r.least && d <= r.most }

// short writes a duration without zeros.
func short(d time.Duration) string {
	switch {
	case d%time.Hour == 0 && d > 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0 && d > 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// What is allowed.
var (
	connections   = count{0, 100_000, ""}
	queueBytes    = count{64 << 10, 1 << 30, " bytes"}
	passLength    = count{srtcore.MinPassphrase, srtcore.MaxPassphrase, " bytes"}
	tokenLength   = count{16, 256, " bytes"}
	failoverRange = span{100 * time.Millisecond, time.Hour, ""}
	holdOffRange  = span{0, 24 * time.Hour, "never"}
	maxAgeRange   = span{10 * time.Millisecond, time.Hour, ""}
	slowRange     = span{100 * time.Millisecond, time.Hour, "0 for never"}
	hookRange     = span{50 * time.Millisecond, 2500 * time.Millisecond, ""}
	logLevels     = []string{"debug", "info", "warn", "error"}
	logFormats    = []string{"text", "json"}
)

const (
	nameAllowed    = "1..64 letters, digits, dots, dashes and underscores, beginning with a letter or digit"
	streamAllowed  = "1..256 bytes without comma, space, control characters or #! at the beginning"
	userAllowed    = "1..64 bytes without comma, space or control characters"
	patternAllowed = "stream names, * for any text"
	listenAllowed  = "host:port, unix:PATH or off"
	prefixAllowed  = "addresses and prefixes, as 192.0.2.1, 10.0.0.0/8, 2001:db8::/32"
	originAllowed  = "http://host[:port] or https://host[:port]"
	urlAllowed     = "srt://, udp://, tcp://, unix:, file://, http://, https://"
)
