package props

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/weirline/weirline/srtcore"
)

const hidden = "(hidden)"

// parsedURI is what a URI said.
type parsedURI struct {
	raw        string // secrets hidden
	host, port string
	values     map[string]value // of properties, by name
	core       []coreOption     // options for srtcore, in their order
	warnings   []string
}

// coreOption is an option that srtcore reads, decoded.
type coreOption struct{ key, text string }

// SetURI reads srt://address:port?option=value&option=value. It replaces what
// the previous URI said. Options that are unknown or have a value that is none
// are left out, each with a warning; an option out of its range is kept, with a
// warning, and starting is refused. The element posts the warnings when it
// starts, since a URI is usually set before anybody listens to messages.
//
// The error says what is wrong with the URI as a whole, which then changes
// nothing. While the element is open it is ErrOpen, whatever the URI.
func (s *Settings) SetURI(uri string) (warnings []string, err error) {
	u, err := parseURI(uri, s.side)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		return nil, ErrOpen
	}
	if err != nil {
		return nil, err
	}
	u.reveal(&s.uri)
	s.uri = u
	return u.warnings, nil
}

// URI returns the URI as it was set, with the passphrase hidden. Set on the same
// element again, the hidden passphrase is the one before.
func (s *Settings) URI() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uri.raw
}

// Warnings are those of the URI that counts now.
func (s *Settings) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uri.warnings
}

// parseURI reads a URI by the rules of srtcore: percent codes are decoded once,
// a plus is a plus, and a # is no fragment but part of a value.
func parseURI(uri string, side Side) (parsedURI, error) {
	u := parsedURI{values: map[string]value{}}
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || !strings.EqualFold(scheme, "srt") && !strings.EqualFold(scheme, "srtgo") {
		return u, fmt.Errorf("the URI does not begin with srt:// or srtgo://: give srt://address:port?option=value")
	}
	authority, query, _ := strings.Cut(rest, "?")
	if err := u.setAuthority(authority); err != nil {
		return u, err
	}
	var kept []string
	afterSecret := false
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, raw, hasValue := strings.Cut(pair, "=")
		text, ok := percentDecode(raw)
		if !ok {
			return u, fmt.Errorf("URI option %q holds a %% that starts no code of two hex digits; a plain %% is written %%25", shorten(key))
		}
		p := ByKey(key)
		switch {
		case p == nil && afterSecret:
			// It may be the rest of a passphrase with a raw & in it.
			u.warn("the option behind passphrase is unknown and ignored; if the & is part of the passphrase, write it %%26")
			pair = hidden
		case !hasValue:
			u.warn("option %q has no value and is ignored: give %s=value", shorten(key), shorten(key))
		default:
			u.setOption(key, text, side)
		}
		afterSecret = p != nil && p.Secret || p == nil && afterSecret
		if p != nil && p.Secret {
			pair = key + "=" + hidden
		}
		kept = append(kept, pair)
	}
	u.raw = scheme + "://" + authority
	if len(kept) > 0 {
		u.raw += "?" + strings.Join(kept, "&")
	}
	return u, nil
}

// setAuthority reads address:port. What it refuses is not repeated: with a
// forgotten question mark it may hold a passphrase.
func (u *parsedURI) setAuthority(s string) error {
	s, path, _ := strings.Cut(s, "/")
	switch {
	case strings.Contains(s, "@"):
		return fmt.Errorf("the URI has a user name or password before the address: use the options streamid and passphrase")
	case strings.ContainsAny(s, "&=#"):
		return fmt.Errorf("the URI has options without a question mark before the first: give srt://address:port?option=value")
	case path != "":
		u.warn("the path behind the port is ignored")
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		inside, rest, ok := strings.Cut(s[1:], "]")
		a, err := netip.ParseAddr(strings.Replace(inside, "%25", "%", 1))
		if !ok || err != nil || rest != "" && rest[0] != ':' {
			return fmt.Errorf("the URI's address is no IPv6 address in brackets: give srt://[::1]:port")
		}
		host, port = a.String(), strings.TrimPrefix(rest, ":")
	} else {
		host, port, _ = strings.Cut(s, ":")
		if strings.Contains(port, ":") {
			return fmt.Errorf("the URI's address has several colons: write an IPv6 address in brackets, srt://[::1]:port")
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n > 65535) {
		return fmt.Errorf("the URI's port %s is no number from 0 to 65535", strconv.Quote(shorten(port)))
	}
	zone := strings.HasPrefix(s, "[") // allowed, with a % before it
	if strings.ContainsAny(host, " \t\r\n\\\x00") || !zone && strings.Contains(host, "%") {
		return fmt.Errorf("the URI's address is no host name and no IP address: give srt://address:port")
	}
	u.host, u.port = host, port
	return nil
}

func (u *parsedURI) portNumber() int64 {
	n, _ := strconv.ParseInt(u.port, 10, 32) // checked by setAuthority
	return n
}

// mode is the URI's: without an address it is a listener whatever it says.
func (u *parsedURI) mode() int64 {
	if v, ok := u.values[ConnectionMode]; ok && (u.host != "" || v.num == ModeRendezvous) {
		return v.num
	}
	if u.host == "" {
		return ModeListener
	}
	return ModeCaller
}

func (u *parsedURI) value(p *Spec) value {
	if v, ok := u.values[p.Name]; ok {
		return v
	}
	return p.standard()
}

// reveal puts the previous URI's passphrase where the new one has it hidden.
func (u *parsedURI) reveal(previous *parsedURI) {
	for i, o := range u.core {
		if o.key != Passphrase || o.text != hidden {
			continue
		}
		for _, old := range previous.core {
			if old.key == Passphrase {
				u.core[i].text = old.text
				u.values[Passphrase] = value{text: old.text}
			}
		}
	}
}

func (u *parsedURI) warn(format string, args ...any) {
	u.warnings = append(u.warnings, fmt.Sprintf("URI: "+format, args...))
}

// setOption takes one option. The element's own are read here, all others by
// srtcore.
func (u *parsedURI) setOption(key, text string, side Side) {
	p := ByKey(key)
	switch {
	case key == "bind":
		u.warn("option \"bind\" is ignored: give localaddress and localport")
	case p == nil || !p.Property || p.isCore():
		u.setCore(key, text, p)
	case p.On&side == 0:
		u.warn("option %q is ignored: it is not for this element", key)
	default:
		v, problem := p.parse(text)
		if problem != "" {
			u.warn("option %s = %s %s and is ignored", key, strconv.Quote(shorten(text)), problem)
			return
		}
		u.values[p.Name] = v
	}
}

// isCore says whether srtcore reads the option under the same name.
func (p *Spec) isCore() bool {
	switch p.Name {
	case Latency, Passphrase, PBKeyLen, StreamID:
		return true
	}
	return !p.Property
}

// setCore asks srtcore what it thinks of one option. Numbers out of range are
// kept, for starting to refuse them; so is a passphrase that does not fit, since
// without it nothing would be encrypted.
func (u *parsedURI) setCore(key, text string, p *Spec) {
	if key == "transtype" && text == "0" {
		text = "live" // the stock elements take libsrt's number
	}
	if p != nil && p.Secret && text == hidden {
		u.core = append(u.core, coreOption{key, text}) // see reveal
		u.values[p.Name] = value{text: text}
		return
	}
	t, err := readCore([]coreOption{{key, text}})
	if err != nil {
		if _, number := strconv.ParseInt(text, 10, 64); p == nil || number != nil && !p.Secret {
			u.warn("%v; it is ignored", err)
			return
		}
		u.warn("%v", err)
	} else {
		u.warnings = append(u.warnings, t.Warnings...)
	}
	u.core = append(u.core, coreOption{key, text})
	if p != nil && p.Property {
		u.values[p.Name] = p.fromCore(text, t)
	}
}

// fromCore is a property's value after srtcore has read the option.
func (p *Spec) fromCore(text string, t *srtcore.Target) value {
	switch {
	case p.Kind == String:
		return value{text: text}
	case t == nil:
		n, _ := strconv.ParseInt(text, 10, 64)
		return value{num: n}
	case p.Name == Latency:
		return value{num: t.Config.RcvLatency.Milliseconds()}
	}
	return value{num: int64(t.Config.PBKeyLen)}
}
