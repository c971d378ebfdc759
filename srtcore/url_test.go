package srtcore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func mustParse(t *testing.T, raw string) *Target {
	t.Helper()
	target, err := ParseURL(raw)
	if err != nil {
		t.Fatalf("ParseURL(%q): %v", raw, err)
	}
	return target
}

func TestParseURLAddresses(t *testing.T) {
	for _, tt := range []struct {
		raw   string
		mode  Mode
		addr  string
		local string
	}{
		{"srt://example.net:9000", ModeCaller, "example.net:9000", ""},
		{"SRT://10.0.0.1:9000/", ModeCaller, "10.0.0.1:9000", ""},
		{"srt://[::1]:9000", ModeCaller, "[::1]:9000", ""},
		{"srt://[0:0:0:0:0:0:0:1]:9000", ModeCaller, "[::1]:9000", ""},
		{"srt://[fe80::1%eth0]:9000", ModeCaller, "[fe80::1%eth0]:9000", ""},
		{"srt://[fe80::1%25eth0]:9000", ModeCaller, "[fe80::1%eth0]:9000", ""},
		{"srt://h:09000", ModeCaller, "h:9000", ""},
		{"srt://:9000", ModeListener, ":9000", ""},
		{"srt://:0", ModeListener, ":0", ""},
		{"srt://:9000?mode=listener", ModeListener, ":9000", ""},
		{"srt://:9000?mode=server", ModeListener, ":9000", ""},
		{"srt://:9000?mode=default", ModeListener, ":9000", ""},
		{"srt://127.0.0.1:9000?mode=listener", ModeListener, "127.0.0.1:9000", ""},
		{"srt://:9000?adapter=127.0.0.1", ModeListener, "127.0.0.1:9000", ""},
		{"srt://:9000?adapter=::1", ModeListener, "[::1]:9000", ""},
		{"srt://:9000?adapter=[::1]&mode=listener", ModeListener, "[::1]:9000", ""},
		{"srt://?bind=127.0.0.1:9000", ModeListener, "127.0.0.1:9000", ""},
		{"srt://:9000?bind=127.0.0.1:9000", ModeListener, "127.0.0.1:9000", ""},
		{"srt://?port=9000", ModeListener, ":9000", ""},
		{"srt://h:9000?mode=caller", ModeCaller, "h:9000", ""},
		{"srt://h:9000?mode=client&adapter=10.0.0.2", ModeCaller, "h:9000", "10.0.0.2:0"},
		{"srt://h:9000?port=5000", ModeCaller, "h:9000", ":5000"},
		{"srt://h:9000?mode=caller&adapter=::1&port=5000", ModeCaller, "h:9000", "[::1]:5000"},
		{"srt://h:9000?mode=caller&bind=10.0.0.2:5000", ModeCaller, "h:9000", "10.0.0.2:5000"},
		{"srt://h:9000?bind=:05000&port=5000", ModeCaller, "h:9000", ":5000"},
		{"srt://h:9000?bind=:5000", ModeCaller, "h:9000", ":5000"},
		{"srt://h:9000?bind=&adapter=", ModeCaller, "h:9000", ""},
	} {
		got := mustParse(t, tt.raw)
		if got.Mode != tt.mode || got.Addr != tt.addr || got.Config.LocalAddr != tt.local {
			t.Errorf("%s: %v %q local %q", tt.raw, got.Mode, got.Addr, got.Config.LocalAddr)
		}
	}
}

func TestParseURLOptions(t *testing.T) {
	for _, tt := range []struct {
		query string
		want  func(*Config)
	}{
		{"", func(*Config) {}},
		{"&&", func(*Config) {}},
		{"latency=200", func(c *Config) { c.RcvLatency, c.PeerLatency = 200*time.Millisecond, 200*time.Millisecond }},
		{"rcvlatency=300&latency=200", func(c *Config) { c.RcvLatency, c.PeerLatency = 300*time.Millisecond, 200*time.Millisecond }},
		{"peerlatency=1.5s", func(c *Config) { c.PeerLatency = 1500 * time.Millisecond }},
		{"maxbw=10M", func(c *Config) { c.MaxBW = 10_000_000 }},
		{"maxbw=0&inputbw=1500K&mininputbw=1Ki&oheadbw=50", func(c *Config) {
			c.MaxBW, c.InputBW, c.MinInputBW, c.OverheadBW = 0, 1_500_000, 1024, 50
		}},
		{"passphrase=0123456789&pbkeylen=32", func(c *Config) { c.Passphrase, c.PBKeyLen = "0123456789", 32 }},
		{"passphrase=", func(*Config) {}},
		{"mss=1360&fc=32&sndbuf=1M&rcvbuf=2Mi", func(c *Config) {
			c.MSS, c.FC, c.SndBuf, c.RcvBuf = 1360, 32, 1_000_000, 2<<20
		}},
		{"udp_sndbuf=0&udp_rcvbuf=65536", func(c *Config) { c.UDPSndBuf, c.UDPRcvBuf = 0, 65536 }},
		{"linger=2", func(c *Config) { c.Linger = 2 * time.Second }},
		{"linger=500ms", func(c *Config) { c.Linger = 500 * time.Millisecond }},
		{"ipttl=64&iptos=184", func(c *Config) { c.IPTTL, c.IPTOS = 64, 184 }},
		{"tsbpdmode=0&tlpktdrop=off&nakreport=no&drifttracer=false", func(c *Config) {
			c.TSBPDMode, c.TLPktDrop, c.NAKReport, c.DriftTracer = false, false, false, false
		}},
		{"snddropdelay=-1", func(c *Config) { c.SndDropDelay = -time.Millisecond }},
		{"conntimeo=1000&peeridletimeo=10s", func(c *Config) {
			c.ConnTimeout, c.PeerIdleTimeout = time.Second, 10*time.Second
		}},
		{"lossmaxttl=50&minversion=1.3.0&retransmitalgo=0", func(c *Config) {
			c.LossMaxTTL, c.MinVersion, c.RetransmitAlgo = 50, 0x010300, 0
		}},
		{"payloadsize=1456", func(c *Config) { c.PayloadSize = 1456 }},
		{"kmrefreshrate=1000&kmpreannounce=100&enforcedencryption=0", func(c *Config) {
			c.KMRefreshRate, c.KMPreAnnounce, c.EnforcedEncryption = 1000, 100, false
		}},
		{"ipv6only=1&bindtodevice=eth0&backlog=7", func(c *Config) { c.IPv6Only, c.BindToDevice, c.Backlog = 1, "eth0", 7 }},
		{"ipv6only=-1", func(*Config) {}},
		{"transtype=live&congestion=live&messageapi=1&blocking=false", func(*Config) {}},
		{"latency=120ms&latency=120ms&peerlatency=0", func(*Config) {}},
		{"streamid=a=b=c?d/e+f g", func(c *Config) { c.StreamID = "a=b=c?d/e+f g" }},
		{"bindtodevice=", func(*Config) {}},
	} {
		want := DefaultConfig()
		tt.want(&want)
		got := mustParse(t, "srt://h:1?"+tt.query)
		if err := sameConfig(&got.Config, &want); err != nil {
			t.Errorf("%s: %v", tt.query, err)
		}
	}
}

// sameConfig names the first option that differs.
func sameConfig(got, want *Config) error {
	for i := range options {
		o := &options[i]
		if o.ref == nil || o.kind == kindGo || o.same(got, want) {
			continue
		}
		return errors.New(o.key + " is " + o.value(got) + ", want " + o.value(want))
	}
	return nil
}

func TestParseURLTimeout(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"timeout=2s": 2 * time.Second, "timeout=1500": 1500 * time.Millisecond, "timeout=-1": 0, "timeout=0": 0, "": 0,
	} {
		if got := mustParse(t, "srt://h:1?"+query).Timeout; got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

func TestParseURLErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                          `option "url" does not begin with srt://`,
		"udp://h:1":                                 `option "url" does not begin with srt://`,
		"srt://":                                    `option "port" is missing`,
		"srt://h":                                   `option "port" is missing`,
		"srt://h:":                                  `option "port" is missing`,
		"srt://h:0":                                 `option "port" is missing`,
		"srt://h:00":                                `option "port" is missing`,
		"srt://h:65536":                             `option "port" = "65536" is not a port`,
		"srt://h:+1":                                `option "port" = "+1" is not a port`,
		"srt://h:-1":                                `option "port" = "-1" is not a port`,
		"srt://h:1/path":                            `option "url" has a path`,
		"srt://user:pw@h:1":                         `option "url" has a user name or password`,
		"srt://h:1&latency=1":                       `option "url" has options without a question mark`,
		"srt://::1:9000":                            `option "host" = "::1:9000" is not an address: allowed an IPv6 address in brackets`,
		"srt://[::1:9000":                           `option "host" = "[::1:9000" is not an address`,
		"srt://[::1]9000":                           `option "host" = "[::1]9000" is not an address`,
		"srt://[1.2.3.4]:1":                         `option "host" = "1.2.3.4" is not an address`,
		"srt://[::1%]:1":                            `option "host" = "::1%" is not an address`,
		"srt://a b:1":                               `option "host" = "a b" is not an address`,
		"srt://:1?mode=caller":                      `option "host" is missing, and a caller needs one`,
		"srt://h:1?mode=rendezvous":                 `option "mode" = rendezvous is not supported yet`,
		"srt://h:1?mode=both":                       `option "mode" = "both" is unknown`,
		"srt://h:1?adapter=1.2.3.4":                 `option "mode" is missing: a host together with a local address means rendezvous`,
		"srt://h:1?port=x":                          `option "port" = "x" is not a port`,
		"srt://h:1?port=1&bind=:2":                  `option "port" = "1" contradicts "2"`,
		"srt://:1?port=2":                           `option "port" = "2" contradicts "1"`,
		"srt://a:1?mode=listener&adapter=b":         `option "adapter" = "b" contradicts "a"`,
		"srt://h:1?bind=[::1":                       `option "bind" = "[::1" is not an address`,
		"srt://h:1?mode=caller&adapter=a:1":         `option "adapter" = "a:1" is not a local address`,
		"srt://?mode=listener&bind=127.0.0.1":       `option "port" is missing`,
		"srt://h:1?transtype=file":                  `option "transtype" = "file" is not supported yet: allowed live`,
		"srt://h:1?congestion=file":                 `option "congestion" = "file" is not supported yet`,
		"srt://h:1?smoother=x":                      `option "smoother" = "x" is unknown`,
		"srt://h:1?messageapi=0":                    `option "messageapi" = "0" is not supported`,
		"srt://h:1?messageapi=x":                    `option "messageapi" = "x" is not a truth value`,
		"srt://h:1?blocking=x":                      `option "blocking" = "x" is not a truth value`,
		"srt://h:1?packetfilter=fec":                `option "packetfilter" is not supported yet`,
		"srt://h:1?cryptomode=2":                    `option "cryptomode" is not supported yet`,
		"srt://h:1?groupconnect=1":                  `option "groupconnect" is not supported yet`,
		"srt://h:1?latancy=200":                     `option "latancy" is unknown; did you mean "latency"?`,
		"srt://h:1?passprase=x":                     `option "passprase" is unknown; did you mean "passphrase"?`,
		"srt://h:1?Latency=1":                       `option "Latency" is unknown; did you mean "latency"?`,
		"srt://h:1?payloadszie=1":                   `option "payloadszie" is unknown; did you mean "payloadsize"?`,
		"srt://h:1?zzzzzzzzz=1":                     `option "zzzzzzzzz" is unknown`,
		"srt://h:1?=1":                              `option "" is unknown`,
		"srt://h:1?nakreport":                       `option "nakreport" has no value: allowed true or false`,
		"srt://h:1?latency=":                        `option "latency" = "" is not a whole number: allowed 0..65535 ms`,
		"srt://h:1?latency=fast":                    `option "latency" = "fast" is not a time`,
		"srt://h:1?latency=700000":                  `option "latency" = 700000ms is out of range: allowed 0..65535 ms (a bare number is in milliseconds`,
		"srt://h:1?latency=11m":                     `option "latency" = 660000ms is out of range: allowed 0..65535 ms`,
		"srt://h:1?latency=-1":                      `option "latency" = -1ms is out of range`,
		"srt://h:1?latency=1&latency=2":             `option "latency" is given twice with different values`,
		"srt://h:1?pkt_size=1&payload_size=2":       `option "payload_size" is given twice with different values`,
		"srt://h:1?maxbw=10Mbit":                    `option "maxbw" = "10Mbit" counts bytes, not bits: allowed -1 or 0..1000000000000 bytes/s`,
		"srt://h:1?maxbw=99999999999999999":         `option "maxbw" = 99999999999999999 is out of range`,
		"srt://h:1?rcvbuf=4294967297":               `option "rcvbuf" = 4294967297 is out of range`,
		"srt://h:1?timeout=x":                       `option "timeout" = "x" is not a time`,
		"srt://h:1?timeout=25000m":                  `option "timeout" = "25000m" is out of range`,
		"srt://h:1?minversion=1.3":                  `option "minversion" = "1.3" is not a version`,
		"srt://h:1?ipv6only=2":                      `option "ipv6only" = "2" is not a truth value`,
		"srt://h:1?tlpktdrop=2":                     `option "tlpktdrop" = "2" is not a truth value`,
		"srt://h:1?kmrefreshrate=9&kmpreannounce=5": `option "kmpreannounce" = 5 does not fit the kmrefreshrate of 9`,
		"srt://h:1?pkt_size=1457":                   `option "pkt_size" = 1457 is out of range: allowed 0..1456 bytes`,
	} {
		_, err := ParseURL(raw)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", raw, err, want)
		}
		if oe := (*OptionError)(nil); !errors.As(err, &oe) {
			t.Errorf("%s: %T is no *OptionError", raw, err)
		}
	}
}

func TestTargetURLReadsBack(t *testing.T) {
	for raw, want := range map[string]string{
		"srt://h:1":                              "srt://h:1?mode=caller",
		"srt://:1":                               "srt://:1?mode=listener",
		"srt://[fe80::1%eth0]:1?latency=200":     "srt://[fe80::1%25eth0]:1?mode=caller&latency=200ms",
		"srt://h:1?rcvlatency=1&linger=0":        "srt://h:1?mode=caller&rcvlatency=1ms&linger=0s",
		"srt://h:1?mode=caller&adapter=1.2.3.4":  "srt://h:1?mode=caller&bind=1.2.3.4:0",
		"srt://h:1?streamid=#!::r=a%26b%25+c d":  "srt://h:1?mode=caller&streamid=%23!::r=a%26b%25%2Bc%20d",
		"srt://h:1?maxbw=1K&timeout=1s":          "srt://h:1?mode=caller&timeout=1000ms&maxbw=1000",
		"srt://h:1?minversion=1.5.0&nakreport=0": "srt://h:1?mode=caller&nakreport=false&minversion=1.5.0",
	} {
		first := mustParse(t, raw)
		if got := first.URL(); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
		checkReadsBack(t, first)
	}
}

// checkReadsBack is also what the fuzz target asks of every parsed URL.
func checkReadsBack(t *testing.T, first *Target) {
	t.Helper()
	second, err := ParseURL(first.format(true))
	if err != nil {
		t.Fatalf("%s does not parse: %v", first, err)
	}
	if second.Mode != first.Mode || second.Addr != first.Addr || second.Timeout != first.Timeout {
		t.Fatalf("%s became %s", first, second)
	}
	if err := sameConfig(&second.Config, &first.Config); err != nil {
		t.Fatalf("%s: %v", first, err)
	}
}

// A URL copied from a log must not connect with the wrong secret.
func TestHiddenPassphraseIsRefused(t *testing.T) {
	target := mustParse(t, "srt://h:1?passphrase=0123456789")
	_, err := ParseURL(target.URL())
	if err == nil || !strings.Contains(err.Error(), "passphrase") {
		t.Fatalf("got %v", err)
	}
}

func TestWrongMode(t *testing.T) {
	var oe *OptionError
	if _, err := mustParse(t, "srt://h:1").Listen(context.Background()); !errors.As(err, &oe) {
		t.Errorf("Listen on a caller's target: %v", err)
	}
	if _, err := mustParse(t, "srt://:1").Dial(context.Background()); !errors.As(err, &oe) {
		t.Errorf("Dial on a listener's target: %v", err)
	}
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"acb", "abc", 1}, {"latancy", "latency", 1}, {"kitten", "sitting", 3}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
