package srtcore

import (
	"errors"
	"strings"
	"testing"
)

// What parses is valid, and its URL parses to the same. What does not parse says
// so with an *OptionError.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{
		"srt://h:1", "srt://:9000?mode=listener", "srt://[::1%25lo]:1?mode=caller&bind=[::1%lo]:5",
		"srt://h:1?streamid=#!::r=live/a,m=publish&latency=1.5s", "srt://h:1?passphrase=0123456789%25&pbkeylen=32",
		"srt://h:1?maxbw=1.5M&linger=1500ms&minversion=1.2.3&ipv6only=-1&snddropdelay=-1&timeout=5us",
		"srt://?bind=:9", "srt://h:1?a%", "srt://h:1?kmrefreshrate=3",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := ParseURL(raw)
		if err != nil {
			if oe := (*OptionError)(nil); !errors.As(err, &oe) || oe.Error() == "" {
				t.Fatalf("%T is no *OptionError", err)
			}
			return
		}
		checkReadsBack(t, target)
		if secret := target.Config.Passphrase; secret != "" && !strings.Contains(target.URL(), "passphrase=(hidden)") {
			t.Fatal("the passphrase is not hidden")
		}
	})
}

// What parses is written back unchanged, and a standard id has only unique keys.
func FuzzParseStreamID(f *testing.F) {
	for _, seed := range []string{"", "live/a", "#!::", "#!::r=a,m=publish", "#!::k=v=w,x=", "#!:{r: a}", "#!::a", "#!::=", "#!"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseStreamID(s)
		if err != nil {
			if oe := (*OptionError)(nil); !errors.As(err, &oe) {
				t.Fatalf("%T is no *OptionError", err)
			}
			return
		}
		if id.String() != s {
			t.Fatalf("%q is written back as %q", s, id.String())
		}
		seen := map[string]bool{}
		for _, p := range id.Pairs {
			if p.Key == "" || seen[p.Key] {
				t.Fatalf("key %q in %q", p.Key, s)
			}
			seen[p.Key] = true
			if v, ok := id.Get(p.Key); !ok || v != p.Value {
				t.Fatalf("Get(%q) = %q, %v", p.Key, v, ok)
			}
		}
	})
}
