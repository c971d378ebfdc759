package access

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
)

// rules are a listener's, made ready for use.
type rules struct {
	allow, deny    []netip.Prefix
	users          map[string]config.User
	passphrase     config.Secret
	inURL          config.Secret // the passphrase of the address
	maxConnections int
	maxPerAddress  int
	hook           *hook
}

func compile(cfg config.Listener) (*rules, error) {
	r := &rules{
		users: map[string]config.User{}, passphrase: cfg.Passphrase,
		maxConnections: cfg.MaxConnections, maxPerAddress: cfg.MaxPerAddress,
	}
	var err error
	if r.allow, err = prefixes(cfg.Allow); err == nil {
		r.deny, err = prefixes(cfg.Deny)
	}
	if err != nil {
		return nil, fmt.Errorf("listener %q: %w", cfg.Name, err)
	}
	for _, u := range cfg.Users {
		r.users[u.Name] = u
	}
	if cfg.Hook != nil {
		r.hook = newHook(*cfg.Hook)
	}
	return r, nil
}

func prefixes(list []string) (out []netip.Prefix, err error) {
	for _, s := range list {
		p, err := config.ParsePrefix(s)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func within(a netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// address holds a caller's address against Deny, which wins, and Allow. a is not
// an IPv4 address in IPv6 clothes.
func (r *rules) address(a netip.Addr) *Refusal {
	a = a.WithZone("")
	if within(a, r.deny) {
		return refuse("address", srtcore.RejForbidden, "the address is on the deny list")
	}
	if len(r.allow) > 0 && !within(a, r.allow) {
		return refuse("address", srtcore.RejForbidden, "the address is not on the allow list")
	}
	return nil
}

// user returns who w claims to be; the passphrase will prove it. A listener
// without users asks for no name.
func (r *rules) user(w *wish) (u config.User, no *Refusal) {
	if len(r.users) == 0 {
		return u, nil
	}
	if w.user == "" {
		return u, refuse("user", srtcore.RejUnauthorized, "the stream id has no user name: write #!::r=NAME,u=USER")
	}
	u, ok := r.users[w.user]
	if !ok {
		return u, refuse("user", srtcore.RejUnauthorized, "the user is not known")
	}
	patterns := u.Play
	if w.mode == modePublish {
		patterns = u.Publish
	}
	for _, p := range patterns {
		if matches(p, w.stream) {
			return u, nil
		}
	}
	return u, refuse("permission", srtcore.RejForbidden, "the user may not "+w.mode.String()+" this stream")
}

// secret is the passphrase of a caller: the user's, else the stream's, else the
// listener's, else that of the address.
func (r *rules) secret(u config.User, ref config.Ref) config.Secret {
	for _, s := range []config.Secret{u.Passphrase, ref.Passphrase, r.passphrase, r.inURL} {
		if s != "" {
			return s
		}
	}
	return ""
}

// matches reports whether name is pattern, with any text in place of each *.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, head)
	if !ok || !star {
		return ok && name == ""
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}
