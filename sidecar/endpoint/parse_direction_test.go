package endpoint

import (
	"strings"
	"testing"
)

// Options that mean nothing in this direction, or at this address, are refused:
// they must not be ignored.
func TestParseRefusesWhatWouldBeIgnored(t *testing.T) {
	for _, c := range []struct {
		raw    string
		source bool
		want   string
	}{
		{"udp://239.0.0.1:1?ttl=4", true, `"ttl" is unknown: allowed pkt_size, buffer_size, iface, source, reuse`},
		{"udp://239.0.0.1:1?source=127.0.0.1", false, `"source" is unknown`},
		{"udp://127.0.0.1:1?iface=lo", true, "is for multicast addresses"},
		{"udp://:1?source=127.0.0.1", true, "is for multicast addresses"},
		{"udp://127.0.0.1:1?loop=0", false, "is for multicast addresses"},
		{"udp://232.0.0.1:1?source=here", true, "addresses of senders"},
		{"udp://232.0.0.1:1?source=232.0.0.2", true, "addresses of senders"},
		{"udp://232.0.0.1:1?source=::1", true, "not of the same IP version"},
		{"udp://239.0.0.1:1?ttl=256", false, "0..255"},
		{"udp://239.0.0.1:1?loop=maybe", false, "truth value"},
		{"file:///a?append=1", true, "for outputs"},
		{"file:///a?append=2", false, "truth value"},
		{"file:///a?loop=1", false, "for sources"},
		{"file:///a?loop=x", true, "truth value"},
		{"file:///what?.ts", true, "%3F"},
		{"http://", true, "needs a host"},
		{"http://u:secret@h:port/", true, "needs a host"},
		{"http://h/#method=PUT", true, `"method" is unknown`},
		{"http://h/#method=GET", false, "allowed PUT, POST"},
		{"http://h/#timeout=1", true, "at least 100ms"},
		{"http://h/#reconnect=x", true, "truth value"},
		{"http://h/#content_type=a%0d%0aX:b", false, "content_type"},
	} {
		_, err := parseEither(c.raw, c.source)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want something about %q", c.raw, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error gives the password away: %v", c.raw, err)
		}
		if f := Judge(err); f.Kind != BadOption || !f.Final {
			t.Errorf("%s: judged %+v", c.raw, f)
		}
	}
}

func TestCutByKindOfOutput(t *testing.T) {
	for raw, want := range map[string]bool{
		"srt://h:1": true, "udp://h:1": true, "tcp://h:1": true, "unix:/a": true, "http://h/": true,
		"file:///a": false, "-": false,
	} {
		e := mustSink(t, raw)
		if cut, begin := Cut(e) != nil, Begin(e) != nil; cut != want || begin != want {
			t.Errorf("%s: cut %v, begin %v, want %v", raw, cut, begin, want)
		}
	}
}
