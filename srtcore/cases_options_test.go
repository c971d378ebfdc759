package srtcore

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// C03: a stream id has at most 512 bytes and no zero byte; anything else in it
// is kept as it is. Refused when it is set, before any packet is sent.
func TestC03StreamIDLengthAndBytes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 255, 256, 300, 511, 512, 513, 600} {
		c := DefaultConfig()
		c.StreamID = strings.Repeat("x", n)
		byConfig := c.Validate()
		target, byURL := ParseURL("srt://h:1?streamid=" + c.StreamID)
		if (byConfig == nil) != (n <= 512) || (byURL == nil) != (n <= 512) {
			t.Errorf("%d bytes: %v, %v", n, byConfig, byURL)
		}
		if n > 512 && !strings.Contains(byConfig.Error(), "0..512 bytes") {
			t.Errorf("%d bytes: %q does not name the limit", n, byConfig)
		}
		if byURL == nil && target.Config.StreamID != c.StreamID {
			t.Errorf("%d bytes changed in the URL", n)
		}
	}
	for _, id := range []string{"größe/日本", "a b=c,d&e%f", "\x01\xff"} {
		target := mustParse(t, "srt://h:1?streamid="+percentEncode(id))
		if target.Config.StreamID != id {
			t.Errorf("%q became %q", id, target.Config.StreamID)
		}
	}
	for _, raw := range []string{"a%00b", "a%00", "%00"} {
		if _, err := ParseURL("srt://h:1?streamid=" + raw); err == nil || !strings.Contains(err.Error(), "zero byte") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// C04: #!:: raw and percent-coded give the same bytes, decoding happens once, a
// lone % is an error, a plus is a plus.
func TestC04StreamIDInURL(t *testing.T) {
	const id = "#!::r=live/a,m=publish"
	for raw, want := range map[string]string{
		"#!::r=live/a,m=publish":                 id,
		"%23%21%3A%3Ar%3Dlive%2Fa%2Cm%3Dpublish": id,
		"%23!::r=live/a,m=publish":               id,
		"%2523":                                  "%23",
		"a%26b":                                  "a&b",
		"a+b":                                    "a+b",
		"a%2bb":                                  "a+b",
		"a?b":                                    "a?b",
		"100%25":                                 "100%",
	} {
		for _, url := range []string{"srt://h:1?streamid=" + raw, "srt://h:1?latency=200&streamid=" + raw + "&mode=caller"} {
			if got := mustParse(t, url).Config.StreamID; got != want {
				t.Errorf("%s: %q, want %q", url, got, want)
			}
		}
	}
	for _, raw := range []string{"100%", "%", "%2", "%zz", "a%b", "%%25"} {
		_, err := ParseURL("srt://h:1?streamid=" + raw)
		if err == nil || !strings.Contains(err.Error(), `option "streamid"`) || !strings.Contains(err.Error(), "%25") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// C05: 10..80 bytes or none; the message says so, and no error ever holds the
// passphrase or a part of it.
func TestC05PassphraseLength(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 63, 64, 65, 79, 80, 81} {
		secret := strings.Repeat("\x7f", n)
		ok := n == 0 || n >= 10 && n <= 80
		c := DefaultConfig()
		c.Passphrase = secret
		byConfig := c.Validate()
		_, byURL := ParseURL("srt://h:1?passphrase=" + secret)
		for _, err := range []error{byConfig, byURL} {
			if (err == nil) != ok {
				t.Errorf("%d bytes: %v", n, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "10..80 bytes") || strings.Contains(err.Error(), "\x7f")) {
				t.Errorf("%d bytes: %q", n, err)
			}
		}
	}
	c := DefaultConfig()
	c.Passphrase = strings.Repeat("本", 10) // 30 bytes
	if err := c.Validate(); err != nil {
		t.Errorf("10 letters of 3 bytes: %v", err)
	}
	c.Passphrase = strings.Repeat("本", 27) // 81 bytes
	if err := c.Validate(); err == nil {
		t.Error("27 letters of 3 bytes are taken: letters were counted, not bytes")
	}
}

func TestC05PassphraseStaysOutOfErrors(t *testing.T) {
	for _, raw := range []string{
		"srt://h:1?passphrase=SECRET",
		"srt://h:1?passphrase=SECRET%",
		"srt://h:1?passphrase=SECRETSECRET&passphrase=OTHERSECRET",
		"srt://h:1?passphrase=012345678&SECRET",
		"srt://h:1?passphrase=0123456789&SECRET=SECRET",
		"srt://h:1?passphrase=SECRETSECRET&latency=x",
		"srt://h:1?passprase=SECRETSECRET",
		"srt://user:SECRET@h:1",
		"srt://h:1&passphrase=SECRETSECRET",
		"srt://h:1/passphrase=SECRETSECRET",
		"srt://h:1%3fpassphrase=SECRETSECRET",
		"srt:h:1?passphrase=SECRETSECRET",
		"srt://h:x?passphrase=SECRETSECRET",
		"srt://h:1?mode=listener&mode=x&passphrase=SECRETSECRET",
	} {
		_, err := ParseURL(raw)
		var oe *OptionError
		if !errors.As(err, &oe) {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the error %q holds the passphrase", raw, err)
		}
	}
}

// C08: what may be set; the limit at MSS 1500 is 1456.
func TestC08PayloadSizeSetting(t *testing.T) {
	for _, tt := range []struct {
		mss, payload int
		ok           bool
		effective    int
	}{
		{1500, 1316, true, 1316}, {1500, 1456, true, 1456}, {1500, 1457, false, 0}, {1500, 0, true, 1456},
		{1360, 1316, true, 1316}, {1300, 1316, true, 1256}, {1300, 1257, false, 0}, {576, 0, true, 532}, {576, 532, true, 532},
	} {
		c := DefaultConfig()
		c.MSS, c.PayloadSize = tt.mss, tt.payload
		err := c.Validate()
		if (err == nil) != tt.ok {
			t.Errorf("mss %d, payload %d: %v", tt.mss, tt.payload, err)
		}
		if tt.ok && c.engineConfig().PayloadSize != tt.effective {
			t.Errorf("mss %d, payload %d: %d in effect", tt.mss, tt.payload, c.engineConfig().PayloadSize)
		}
	}
	for _, key := range []string{"payloadsize", "payload_size", "pkt_size"} {
		if got := mustParse(t, "srt://h:1?"+key+"=1456").Config.PayloadSize; got != 1456 {
			t.Errorf("%s: %d", key, got)
		}
	}
}

// C22: one documented unit, suffixes accepted, doubtful values draw a warning
// that names the unit, unknown keys are errors.
func TestC22Units(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"latency=200": 200 * time.Millisecond, "latency=200ms": 200 * time.Millisecond, "latency=200000us": 200 * time.Millisecond,
		"latency=0.2s": 200 * time.Millisecond,
	} {
		got := mustParse(t, "srt://h:1?"+query)
		if got.Config.RcvLatency != want || got.Config.PeerLatency != want || len(got.Warnings) != 0 {
			t.Errorf("%s: %v, %v, %v", query, got.Config.RcvLatency, got.Config.PeerLatency, got.Warnings)
		}
	}
	if got := mustParse(t, "srt://h:1?connect_timeout=1000&timeout=2s"); got.Config.ConnTimeout != time.Second || got.Timeout != 2*time.Second {
		t.Errorf("timeouts %v, %v", got.Config.ConnTimeout, got.Timeout)
	}
	if _, err := ParseURL("srt://h:1?latancy=200"); err == nil || !strings.Contains(err.Error(), `did you mean "latency"?`) {
		t.Errorf("latancy: %v", err)
	}
}

func TestC22DoubtfulLatency(t *testing.T) {
	for query, doubtful := range map[string]bool{
		"latency=0": false, "latency=1": true, "latency=200us": true, "latency=19.999ms": true, "latency=20": false,
		"rcvlatency=5": true, "peerlatency=5": true, "peerlatency=0": false,
	} {
		got := mustParse(t, "srt://h:1?"+query)
		if (len(got.Warnings) == 1) != doubtful {
			t.Errorf("%s: warnings %q", query, got.Warnings)
		}
		for _, w := range got.Warnings {
			key, _, _ := strings.Cut(query, "=")
			if !strings.Contains(w, `"`+key+`"`) || !strings.Contains(w, "milliseconds") {
				t.Errorf("%s: %q names not both the option and the unit", query, w)
			}
		}
	}
	// Microseconds meant, as in FFmpeg: refused, and told which unit is which.
	_, err := ParseURL("srt://h:1?latency=200000")
	if err == nil || !strings.Contains(err.Error(), "milliseconds") || !strings.Contains(err.Error(), "us") {
		t.Errorf("latency=200000: %v", err)
	}
	for _, query := range []string{"latency=11m", "latency=10.5m", "rcvlatency=65536", "peerlatency=66s"} {
		if _, err := ParseURL("srt://h:1?" + query); err == nil || !strings.Contains(err.Error(), "0..65535 ms") {
			t.Errorf("%s: %v", query, err)
		}
	}
}
