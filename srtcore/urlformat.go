package srtcore

import (
	"strings"
	"time"
)

// URL writes the target as a URL that ParseURL reads back to the same target,
// with the mode and every option that differs from its default. A passphrase is
// written as "(hidden)", which ParseURL refuses: a URL copied from a log fails
// instead of using the wrong secret.
func (t *Target) URL() string { return t.format(false) }

// String is URL, so that printing a Target does not show the passphrase.
func (t *Target) String() string { return t.URL() }

func (t *Target) format(secret bool) string {
	var b strings.Builder
	b.WriteString(scheme + t.hostport() + "?mode=" + t.Mode.String())
	if t.Timeout > 0 {
		b.WriteString("&timeout=" + formatTime(t.Timeout, time.Millisecond))
	}
	for _, s := range t.Config.changed() {
		value := s.value
		if secret && s.key == "passphrase" {
			value = t.Config.Passphrase
		}
		b.WriteString("&" + s.key + "=" + percentEncode(value))
	}
	return b.String()
}

// hostport writes a zone's % as URLs have it.
func (t *Target) hostport() string { return strings.Replace(t.Addr, "%", "%25", 1) }

// changed lists the options that differ from their defaults, under their URL
// keys, secrets hidden.
func (c *Config) changed() []setting {
	var list []setting
	dflt := DefaultConfig()
	both := c.RcvLatency == c.PeerLatency
	if both {
		list = append(list, setting{"latency", formatTime(c.RcvLatency, time.Millisecond)})
	}
	for i := range options {
		o := &options[i]
		if o.ref == nil || o.kind == kindGo || o.same(c, &dflt) {
			continue
		}
		if both && (o.key == "rcvlatency" || o.key == "peerlatency") {
			continue
		}
		list = append(list, setting{o.key, o.value(c)})
	}
	return list
}

// String lists the options that differ from their defaults, the passphrase
// hidden. It keeps the passphrase out of logs that print a Config.
func (c Config) String() string {
	var parts []string
	for _, s := range c.changed() {
		parts = append(parts, s.key+"="+s.value)
	}
	return "Config{" + strings.Join(parts, " ") + "}"
}

// GoString is String.
func (c Config) GoString() string { return "srtcore." + c.String() }

// percentEncode writes what stands for itself in every tool's URL parser as it
// is, and everything else as a percent code: # starts a fragment for some, + is
// a space for others.
func percentEncode(s string) string {
	const plain = "-._~!:/,=@*()"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if isHostByte(c) || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}
