package props_test

import (
	"strings"
	"testing"

	"github.com/weirline/weirline/gstplugin/props"
)

// Whatever the URI, nothing panics, no passphrase comes out, and the URI read
// back says the same again.
func FuzzSetURI(f *testing.F) {
	for _, uri := range []string{
		"srt://127.0.0.1:7001", "srt://:9000?mode=listener", "srtgo://[::1]:9000?streamid=%23!::r=a",
		"srt://h:1?passphrase=verysecret123&latency=1s&mss=1400", "srt://h:1?mode=rendezvous&localport=5&x=y&&=&a",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		s := props.NewSettings(props.Sink)
		warnings, err := s.SetURI(uri)
		if err != nil {
			return
		}
		c, err := s.Snapshot()
		said := s.URI() + strings.Join(warnings, "\n")
		if err != nil {
			said += err.Error()
		}
		if secret := c.SRT.Passphrase; strings.HasPrefix(secret, "verysecret") && strings.Contains(said, secret) {
			t.Errorf("the passphrase comes out: %q", said)
		}
		again := props.NewSettings(props.Sink)
		if _, err := again.SetURI(s.URI()); err != nil {
			t.Fatalf("%q, read back as %q: %v", uri, s.URI(), err)
		}
		if again.URI() != s.URI() || again.GetInt(props.ConnectionMode) != s.GetInt(props.ConnectionMode) ||
			again.GetInt(props.Latency) != s.GetInt(props.Latency) || again.GetString(props.StreamID) != s.GetString(props.StreamID) {
			t.Errorf("%q, read back as %q, is another", uri, s.URI())
		}
	})
}
