package endpoint

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		raw     string
		source  bool
		url     string
		listens bool
		again   bool
	}{
		{"srt://127.0.0.1:9000", true, "srt://127.0.0.1:9000?mode=caller", false, true},
		{"srt://:9000", false, "srt://:9000?mode=listener", true, true},
		{"srt://127.0.0.1:9000?reconnect=0", true, "srt://127.0.0.1:9000?mode=caller", false, false},
		{"udp://:5000", true, "udp://:5000", false, true},
		{"udp://@239.0.0.1:5000?pkt_size=188", true, "udp://239.0.0.1:5000", false, true},
		{"file:///a/b%20c.ts", true, "file:///a/b c.ts", false, false},
		{"file://rel.ts", false, "file://rel.ts", false, true},
		{"file://rel.ts?append=1", false, "file://rel.ts?append=1", false, true},
		{"file://what%3F.ts", true, "file://what?.ts", false, false},
		{"udp://239.0.0.1:5000?iface=lo&ttl=4&loop=0", false, "udp://239.0.0.1:5000", false, true},
		{"udp://232.0.0.1:5000?iface=127.0.0.1&source=127.0.0.1,127.0.0.2&reuse=no", true, "udp://232.0.0.1:5000", false, true},
		{"udp://127.0.0.1:5000?ttl=4", false, "udp://127.0.0.1:5000", false, true},
		{"http://u:secret@h:80/a%20b?key=secret", true, "http://h:80/a%20b?...", false, true},
		{"https://h/a#reconnect=0&timeout=2s", true, "https://h/a", false, false},
		{"http://h/a#method=post&content_type=video/x", false, "http://h/a", false, true},
		{"unix:/run/a.sock", true, "unix:/run/a.sock?listen=1", true, true},
		{"unix:/run/a.sock", false, "unix:/run/a.sock?listen=0", false, true},
		{"unix:///run/a.sock?listen=0", true, "unix:/run/a.sock?listen=0", false, false},
		{"tcp://127.0.0.1:70", false, "tcp://127.0.0.1:70?listen=0", false, true},
		{"tcp://:70?listen=yes", false, "tcp://:70?listen=1", true, true},
		{"-", true, "- (standard input)", false, false},
		{"file://con", false, "- (standard output)", false, false},
	} {
		e, err := parseEither(c.raw, c.source)
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		if e.URL() != c.url || e.Traits().Listens != c.listens || e.Traits().Again != c.again {
			t.Errorf("%s: %s, %+v", c.raw, e.URL(), e.Traits())
		}
	}
}

func parseEither(raw string, source bool) (End, error) {
	if source {
		return ParseSource(raw)
	}
	return ParseSink(raw)
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"in.ts", "file://in.ts"},
		{"rtmp://h/a?passphrase=verysecret", `scheme "rtmp"`},
		{"udp://h", "host:port"},
		{"udp://h:1?pktsize=1316", `"pktsize" is unknown`},
		{"udp://h:1?pkt_size=0", "1..65507"},
		{"tcp://h", "host:port"},
		{"unix:", "address"},
		{"unix:/a?listen=maybe", "truth value"},
		{"file://", "path"},
		{"file:///a%zz", "%25"},
		{"srt://h:1?latancy=5", "latancy"},
		{"srt://h:1?reconnect=x&passphrase=verysecret", "reconnect"},
		{"srt://h:1?listen_timeout=x", "listen_timeout"},
		{"srt://h:1?passphrase=short", "10..80"},
	} {
		for _, source := range []bool{true, false} {
			_, err := parseEither(c.raw, source)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want something about %q", c.raw, err, c.want)
				continue
			}
			if strings.Contains(err.Error(), "verysecret") || strings.Contains(err.Error(), "short") {
				t.Errorf("%s: the error gives the passphrase away: %v", c.raw, err)
			}
			if f := Judge(err); f.Kind != BadOption || !f.Final {
				t.Errorf("%s: judged %+v", c.raw, f)
			}
		}
	}
}

func TestURLHidesThePassphrase(t *testing.T) {
	e, err := ParseSRT("srt://h:1?passphrase=verysecret1&latency=50&reconnect=0")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(e.URL(), "verysecret1") || !strings.Contains(e.URL(), "latency=50ms") {
		t.Errorf("URL is %s", e.URL())
	}
}

func TestShortLatencyDrawsAWarning(t *testing.T) {
	e, err := ParseSRT("srt://h:1?latency=1")
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(e.Warnings(), " "); !strings.Contains(w, "latency") {
		t.Errorf("warnings: %q", w)
	}
}

func TestFlightRecorder(t *testing.T) {
	for raw, want := range map[string]int{
		"srt://h:1": TraceRecords, "srt://h:1?latency=9&tracerecords=0": 0, "srt://h:1?tracerecords=512&reconnect=0": 512,
	} {
		e, err := ParseSRT(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.recording().Config.TraceRecords; got != want {
			t.Errorf("%s: %d records, want %d", raw, got, want)
		}
	}
}
