package srtcore

import (
	"net"
	"net/netip"
	"strings"
)

// parseAuthority splits "host:port", "[::1]:port", ":port" or "". What it
// refuses is not repeated in the error: with a forgotten question mark it may
// hold a passphrase.
func parseAuthority(s string) (host, port string, err error) {
	s, path, _ := strings.Cut(s, "/")
	switch {
	case path != "":
		return "", "", &OptionError{Option: "url", Problem: "has a path behind the port", Allowed: "options behind a question mark only"}
	case strings.Contains(s, "@"):
		return "", "", &OptionError{Option: "url", Problem: "has a user name or password before the host", Allowed: "the options streamid and passphrase"}
	case strings.ContainsAny(s, "&=#") || s != "" && s[0] != '[' && strings.Contains(s, "%"):
		return "", "", &OptionError{Option: "url", Problem: "has options without a question mark before the first"}
	}
	// A URL has the % before an IPv6 zone as %25; the bare one is taken as well.
	host, port, err = splitHost(strings.Replace(s, "%25", "%", 1))
	if err != nil {
		return "", "", err
	}
	if port != "" && !isPort(port) {
		return "", "", &OptionError{Option: "port", Value: quoteValue(port), Problem: "is not a port", Allowed: "1..65535"}
	}
	return host, trimPort(port), nil
}

// splitHost takes the brackets from an IPv6 address. The port may be missing.
func splitHost(s string) (host, port string, err error) {
	if strings.HasPrefix(s, "[") {
		inside, rest, closed := strings.Cut(s[1:], "]")
		if !closed || rest != "" && rest[0] != ':' {
			return "", "", badHost(s)
		}
		host, err := parseIPv6(inside)
		return host, strings.TrimPrefix(rest, ":"), err
	}
	host, port, _ = strings.Cut(s, ":")
	if strings.Contains(port, ":") {
		return "", "", &OptionError{Option: "host", Value: quoteValue(s), Problem: "is not an address", Allowed: "an IPv6 address in brackets, [::1]:port"}
	}
	for i := range len(host) {
		if !isHostByte(host[i]) {
			return "", "", badHost(host)
		}
	}
	return host, port, nil
}

func badHost(s string) error {
	return &OptionError{Option: "host", Value: quoteValue(s), Problem: "is not an address", Allowed: "a host name, an IPv4 address or an IPv6 address in brackets"}
}

// parseIPv6 takes a zone of plain characters.
func parseIPv6(s string) (string, error) {
	_, zone, _ := strings.Cut(s, "%")
	for i := range len(zone) {
		if !isHostByte(zone[i]) {
			return "", badHost(s)
		}
	}
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() {
		return "", badHost(s)
	}
	return a.String(), nil
}

func isHostByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_'
}

// resolveAddress settles the mode and the two addresses.
func (given settings) resolveAddress(t *Target, host, port string) error {
	local, err := given.localAddress()
	if err != nil {
		return err
	}
	if t.Mode, err = given.mode(host, local.host); err != nil {
		return err
	}
	if t.Mode == ModeListener {
		t.Addr, err = listenAddress(address{host, port}, local)
		return err
	}
	if host == "" {
		return &OptionError{Option: "host", Problem: "is missing, and a caller needs one", Allowed: "a host before the port, or mode=listener"}
	}
	if port == "" || port == "0" {
		return &OptionError{Option: "port", Problem: "is missing", Allowed: "1..65535"}
	}
	t.Addr = net.JoinHostPort(host, port)
	if local != (address{}) {
		t.Config.LocalAddr = net.JoinHostPort(local.host, orZero(local.port))
	}
	return nil
}

type address struct{ host, port string }

// localAddress merges bind, adapter and port.
func (given settings) localAddress() (address, error) {
	var a address
	if s, ok := given["bind"]; ok && s.value != "" {
		host, port, err := splitHost(s.value)
		if err != nil || port != "" && !isPort(port) {
			return a, &OptionError{Option: s.key, Value: quoteValue(s.value), Problem: "is not an address", Allowed: lookup("bind").allowedText()}
		}
		a = address{host, port}
	}
	if s, ok := given["adapter"]; ok && s.value != "" {
		host, err := parseAdapter(s.value)
		if err != nil {
			return a, err
		}
		if a.host, err = merge("adapter", a.host, host); err != nil {
			return a, err
		}
	}
	if s, ok := given["port"]; ok {
		if !isPort(s.value) {
			return a, &OptionError{Option: s.key, Value: quoteValue(s.value), Problem: "is not a port", Allowed: "0..65535"}
		}
		var err error
		if a.port, err = merge("port", trimPort(a.port), trimPort(s.value)); err != nil {
			return a, err
		}
	}
	a.port = trimPort(a.port)
	return a, nil
}

// parseAdapter takes an IPv6 address with or without brackets.
func parseAdapter(value string) (string, error) {
	if strings.Count(value, ":") > 1 && value[0] != '[' {
		value = "[" + value + "]"
	}
	host, port, err := splitHost(value)
	if err != nil || port != "" || host == "" {
		return "", &OptionError{Option: "adapter", Value: quoteValue(value), Problem: "is not a local address", Allowed: "an address without a port"}
	}
	return host, nil
}

// merge joins two sources of one value, which may not contradict each other.
func merge(key, a, b string) (string, error) {
	if a == "" || a == b {
		return b, nil
	}
	if b == "" {
		return a, nil
	}
	return "", &OptionError{Option: key, Value: quoteValue(b), Problem: "contradicts " + quoteValue(a) + " given elsewhere in the URL"}
}

// listenAddress is where a listener binds: the host and port of the URL and
// those of bind, adapter and port mean the same for it.
func listenAddress(url, local address) (string, error) {
	host, err := merge("adapter", url.host, local.host)
	if err != nil {
		return "", err
	}
	port, err := merge("port", url.port, local.port)
	if err != nil {
		return "", err
	}
	if port == "" {
		return "", &OptionError{Option: "port", Problem: "is missing", Allowed: "0..65535"}
	}
	return net.JoinHostPort(host, port), nil
}

// mode settles which side this is.
func (given settings) mode(host, adapter string) (Mode, error) {
	s := given["mode"]
	switch s.value {
	case "caller", "client":
		return ModeCaller, nil
	case "listener", "server":
		return ModeListener, nil
	case "", "default":
		return defaultMode(host, adapter)
	case "rendezvous":
		return 0, &OptionError{Option: "mode", Value: "rendezvous", Problem: "is not supported yet", Allowed: lookup("mode").allowedText()}
	}
	return 0, &OptionError{Option: "mode", Value: quoteValue(s.value), Problem: "is unknown", Allowed: lookup("mode").allowedText()}
}

// defaultMode follows srt-live-transmit, where a host together with an adapter
// means rendezvous: guessing something else would surprise.
func defaultMode(host, adapter string) (Mode, error) {
	switch {
	case host == "":
		return ModeListener, nil
	case adapter == "":
		return ModeCaller, nil
	}
	return 0, &OptionError{Option: "mode", Problem: "is missing: a host together with a local address means rendezvous, which is not supported yet",
		Allowed: "mode=caller or mode=listener"}
}

func orZero(port string) string {
	if port == "" {
		return "0"
	}
	return port
}

// trimPort takes leading zeros from a port.
func trimPort(port string) string {
	trimmed := strings.TrimLeft(port, "0")
	if trimmed == "" && port != "" {
		return "0"
	}
	return trimmed
}
