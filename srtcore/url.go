package srtcore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Mode is which side of a connection a Target is.
type Mode uint8

const (
	ModeCaller   Mode = iota + 1 // Dial
	ModeListener                 // Listen
)

func (m Mode) String() string {
	switch m {
	case ModeCaller:
		return "caller"
	case ModeListener:
		return "listener"
	}
	return "mode " + strconv.Itoa(int(m))
}

// Target is what a URL says: where to connect or listen, and how.
type Target struct {
	Mode   Mode
	Addr   string // "host:port" to call, or "[host]:port" to listen on
	Config Config

	// Timeout is the URL's limit for one read or write; 0: none. It is for the
	// application, which knows when a read or a write begins, to set deadlines by.
	Timeout time.Duration
	// Warnings are about values that are allowed but hardly meant. They name the
	// option and its unit.
	Warnings []string
}

// Dial calls the target's address. Check Mode first.
func (t *Target) Dial(ctx context.Context) (*Conn, error) {
	if t.Mode != ModeCaller {
		return nil, t.wrongMode(ModeCaller)
	}
	return Dial(ctx, t.Addr, &t.Config)
}

// Listen listens on the target's address. Check Mode first.
func (t *Target) Listen(ctx context.Context) (*Listener, error) {
	if t.Mode != ModeListener {
		return nil, t.wrongMode(ModeListener)
	}
	return Listen(ctx, t.Addr, &t.Config)
}

func (t *Target) wrongMode(want Mode) error {
	return &OptionError{Option: "mode", Value: t.Mode.String(), Problem: "does not fit this call", Allowed: want.String()}
}

const scheme = "srt://"

// ParseURL reads srt://host:port?option=value&option=value with the option names
// and units of srt-live-transmit, which docs/options.md lists: times are in
// milliseconds (linger in seconds), bandwidths in bytes per second. Times also
// take the suffixes us, ms, s and m, numbers of bytes and packets K, M, G, Ki, Mi
// and Gi.
//
// Without mode, an empty host means listener and any other caller.
//
// Values are percent-decoded exactly once; a plus is a plus. The query begins at
// the first question mark and ends at the end: a # is part of a value, so
// streamid=#!::r=live/a,m=publish gives that very id. Only & must be written %26
// and % must be written %25.
//
// An unknown option, the same option twice with different values, and everything
// that Validate refuses is an error: an *OptionError, which never holds the
// passphrase.
func ParseURL(raw string) (*Target, error) {
	if len(raw) < len(scheme) || !strings.EqualFold(raw[:len(scheme)], scheme) {
		return nil, &OptionError{Option: "url", Problem: "does not begin with " + scheme, Allowed: scheme + "host:port?option=value"}
	}
	authority, query, _ := strings.Cut(raw[len(scheme):], "?")
	host, port, err := parseAuthority(authority)
	if err != nil {
		return nil, err
	}
	given, err := parseQuery(query)
	if err != nil {
		return nil, err
	}
	t := &Target{Config: DefaultConfig()}
	if err := given.apply(t); err != nil {
		return nil, err
	}
	if err := given.resolveAddress(t, host, port); err != nil {
		return nil, err
	}
	if err := t.Config.Validate(); err != nil {
		return nil, err
	}
	return t, nil
}

// setting is one option as the URL gave it: the key used and the decoded value.
type setting struct{ key, value string }

// settings maps canonical keys to what the URL said.
type settings map[string]setting

// parseQuery splits and decodes; every key is known afterwards.
func parseQuery(query string) (settings, error) {
	given := settings{}
	previous := ""
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, raw, hasValue := strings.Cut(pair, "=")
		o := lookup(key)
		if o == nil {
			return nil, unknownKey(key, previous)
		}
		if !hasValue {
			return nil, &OptionError{Option: key, Problem: "has no value", Allowed: o.allowedText()}
		}
		value, ok := percentDecode(raw)
		if !ok {
			return nil, &OptionError{Option: key, Problem: "holds a % that starts no code of two hex digits; a plain % is written %25"}
		}
		if before, twice := given[o.key]; twice && before.value != value {
			return nil, &OptionError{Option: key, Problem: "is given twice with different values"}
		}
		given[o.key] = setting{key, value}
		previous = o.key
	}
	return given, nil
}

// unknownKey never repeats what follows a passphrase: it may be the rest of one
// that holds a raw &.
func unknownKey(key, previous string) error {
	if previous == "passphrase" {
		return &OptionError{Option: previous, Problem: "is followed by an unknown option; if the & is part of the passphrase, write it %26"}
	}
	for _, k := range notYet {
		if k == key {
			return &OptionError{Option: key, Problem: "is not supported yet"}
		}
	}
	problem := "is unknown"
	if near := nearestKey(key); near != "" {
		problem += fmt.Sprintf("; did you mean %q?", near)
	}
	if len(key) > 40 {
		key = key[:40] + "..."
	}
	return &OptionError{Option: key, Problem: problem}
}

// lookup finds the row of a key or an alias, nil if there is none.
func lookup(key string) *option {
	if key == "" {
		return nil
	}
	for i := range options {
		o := &options[i]
		if o.key == key {
			return o
		}
		for _, a := range o.aliases {
			if a == key {
				return o
			}
		}
	}
	return nil
}

// percentDecode decodes once. A plus stays a plus.
func percentDecode(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			return "", false
		}
		n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8) // two hex digits: cannot fail
		out = append(out, byte(n))
		i += 2
	}
	return string(out), true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// apply sets the options in the order of the table. LocalAddr is left to
// resolveAddress: bind means different things to a caller and a listener.
func (given settings) apply(t *Target) error {
	for i := range options {
		o := &options[i]
		s, ok := given[o.key]
		if !ok || o.key == "" || o.key == "bind" {
			continue
		}
		set := urlOnly[o.key]
		if set == nil {
			set = setField
		}
		if err := set(t, o, s); err != nil {
			return err
		}
	}
	return nil
}

func setField(t *Target, o *option, s setting) error {
	if err := o.parse(&t.Config, s.key, s.value); err != nil {
		return addTimeHint(err, o, s)
	}
	if o.key == "rcvlatency" || o.key == "peerlatency" {
		t.warnLatency(s, time.Duration(o.number(&t.Config)))
	}
	return nil
}

// addTimeHint helps with a bare number from a tool that counts in microseconds.
func addTimeHint(err error, o *option, s setting) error {
	if oe, ok := err.(*OptionError); ok && o.kind == kindMs && allDigits(s.value) {
		oe.Allowed += " (a bare number is in milliseconds; suffixes us, ms, s and m are taken)"
	}
	return err
}

// warnLatency: less than 20 ms is hardly ever meant, but may be in a studio.
func (t *Target) warnLatency(s setting, d time.Duration) {
	const least = 20 * time.Millisecond
	if d <= 0 || d >= least {
		return
	}
	t.Warnings = append(t.Warnings, fmt.Sprintf(
		"option %q = %s is %s: less than 20 ms leaves hardly any time to repair losses; a bare number is in milliseconds, suffixes us, ms, s and m are taken",
		s.key, s.value, formatTime(d, time.Millisecond)))
}
