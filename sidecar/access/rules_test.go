package access

import (
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/config"
)

func TestAddressRules(t *testing.T) {
	for _, c := range []struct {
		allow, deny []string
		addr        string
		ok          bool
	}{
		{nil, nil, "192.0.2.1", true},
		{[]string{"192.0.2.0/24"}, nil, "192.0.2.1", true},
		{[]string{"192.0.2.0/24"}, nil, "192.0.3.1", false},
		{[]string{"192.0.2.0/24"}, nil, "2001:db8::1", false},
		{[]string{"192.0.2.7/24"}, nil, "192.0.2.1", true}, // host bits do not matter
		{nil, []string{"192.0.2.1"}, "192.0.2.1", false},
		{nil, []string{"192.0.2.1"}, "192.0.2.2", true},
		{[]string{"192.0.2.0/24"}, []string{"192.0.2.1"}, "192.0.2.1", false}, // deny wins
		{[]string{"2001:db8::/32"}, nil, "2001:db8:1::1", true},
		{[]string{"2001:db8::/32"}, []string{"2001:db8:1::/48"}, "2001:db8:1::1", false},
		{[]string{"::ffff:192.0.2.0/120"}, nil, "192.0.2.9", true}, // mapped in the file
		{nil, []string{"::ffff:192.0.2.1"}, "192.0.2.1", false},
		{[]string{"fe80::/10"}, nil, "fe80::1%eth0", true},
		{[]string{"0.0.0.0/0"}, nil, "2001:db8::1", false},
		{[]string{"0.0.0.0/0", "::/0"}, nil, "2001:db8::1", true},
	} {
		r, err := compile(config.Listener{Allow: c.allow, Deny: c.deny})
		if err != nil {
			t.Fatal(err)
		}
		if no := r.address(netip.MustParseAddr(c.addr)); (no == nil) != c.ok {
			t.Errorf("allow %v deny %v: %s: %v", c.allow, c.deny, c.addr, no)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a", "", false}, {"", "", true}, {"", "a", false},
		{"*", "", true}, {"*", "live/a", true}, {"live/*", "live/a/b", true}, {"live/*", "live", false},
		{"*/main", "live/main", true}, {"*/main", "live/main2", false}, {"a*b*c", "aXbYc", true},
		{"a*b*c", "aXbY", false}, {"a*a", "a", false}, {"a*a", "aa", true}, {"*a*", "bab", true},
		{"**", "x", true}, {"a*bc", "abcbc", true}, {"A", "a", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestTallyNamesWhatItKeptBack(t *testing.T) {
	var y tally
	now := time.Now()
	shown := 0
	for range 20 {
		if show, _ := y.add("stream", now); show {
			shown++
		}
	}
	if show, _ := y.add("user", now); !show {
		t.Error("another reason was kept back")
	}
	show, unlogged := y.add("stream", now.Add(logWindow))
	if shown != logBurst || !show || unlogged != 20-logBurst || y.counts()["stream"] != 21 {
		t.Errorf("shown %d, then %v with %d unlogged; counts %v", shown, show, unlogged, y.counts())
	}
}
