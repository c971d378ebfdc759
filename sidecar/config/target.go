package config

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/weirline/weirline/srtcore"
)

// Target reads the address of a listener: an srt:// URL or [host]:port. The
// listener's own passphrase is not in it.
func (l Listener) Target() (*srtcore.Target, error) {
	raw := l.Address
	if !strings.HasPrefix(strings.ToLower(raw), "srt://") {
		if strings.ContainsAny(raw, "/?@&=") {
			return nil, &srtcore.OptionError{Option: "address", Problem: "is not an address", Allowed: "[host]:port, or srt://[host]:port?option=value"}
		}
		raw = "srt://" + raw
	}
	_, query, _ := strings.Cut(raw, "?")
	if !strings.Contains("&"+query, "&mode=") {
		sep := "?"
		if strings.Contains(raw, "?") {
			sep = "&"
		}
		raw += sep + "mode=listener"
	}
	t, err := srtcore.ParseURL(raw)
	if err != nil {
		return nil, err
	}
	if t.Mode != srtcore.ModeListener {
		return nil, &srtcore.OptionError{Option: "mode", Value: t.Mode.String(), Problem: "does not fit a listener", Allowed: "mode=listener, or none"}
	}
	return t, nil
}

// ParsePrefix reads an address, or a prefix such as 10.0.0.0/8 or 2001:db8::/32.
// IPv4 in IPv6 clothes is IPv4.
func ParsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		a, aerr := netip.ParseAddr(s)
		if aerr != nil || a.Zone() != "" {
			return p, fmt.Errorf("%q is no address and no prefix: allowed 192.0.2.1, 10.0.0.0/8, 2001:db8::/32", clip(s))
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if a := p.Addr(); a.Is4In6() {
		if p.Bits() < 96 {
			return p, fmt.Errorf("%q covers more than IPv4: allowed /96 to /128, or plain IPv4", clip(s))
		}
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

// clip shortens what is quoted.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
