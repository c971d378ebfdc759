package props_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/props"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// TestURIWhileOpen: a URI that comes while the element is open changes nothing and
// is refused for that alone, be it readable or not.
func TestURIWhileOpen(t *testing.T) {
	s := props.NewSettings(props.Source)
	if _, err := s.SetURI("srt://h:9000"); err != nil {
		t.Fatal(err)
	}
	s.SetOpen(true)
	for _, uri := range []string{"srt://h:9001", "http://h:9001", ""} {
		if _, err := s.SetURI(uri); !errors.Is(err, props.ErrOpen) {
			t.Errorf("%q: %v, want ErrOpen", uri, err)
		}
	}
	if got := s.URI(); got != "srt://h:9000" {
		t.Errorf("the URI is now %q", got)
	}
}

func TestAddressesOfURIs(t *testing.T) {
	for uri, want := range map[string]struct {
		mode        int
		addr, local string
		err         string
	}{
		"srt://":                     {mode: props.ModeListener, addr: ":7001"},
		"srt://:9000":                {mode: props.ModeListener, addr: ":9000"},
		"srt://:9000?mode=caller":    {mode: props.ModeListener, addr: ":9000"},
		"srtgo://h:9000":             {mode: props.ModeCaller, addr: "h:9000"},
		"SRT://h:9000?mode=listener": {mode: props.ModeListener, addr: "h:9000"},
		"srt://0.0.0.0:9000?mode=listener&localport=9": {mode: props.ModeListener, addr: "0.0.0.0:9"},
		"srt://?localaddress=::1&localport=9000":       {mode: props.ModeListener, addr: "[::1]:9000"},
		"srt://[::1]:9000":                             {mode: props.ModeCaller, addr: "[::1]:9000"},
		"srt://[fe80::1%25lo]:9000":                    {mode: props.ModeCaller, addr: "[fe80::1%lo]:9000"},
		"srt://[fe80::1%lo]:9000?mode=listener":        {mode: props.ModeListener, addr: "[fe80::1%lo]:9000"},
		"srt://h:9000?localaddress=127.0.0.1":          {mode: props.ModeCaller, addr: "h:9000", local: "127.0.0.1:0"},
		"srt://h:9000?localport=8000":                  {mode: props.ModeCaller, addr: "h:9000", local: ":8000"},
		"srt://h:9000?adapter=127.0.0.1&port=8000":     {mode: props.ModeCaller, addr: "h:9000", local: "127.0.0.1:8000"},
		"srt://h:9000?mode=server":                     {mode: props.ModeCaller, addr: "h:9000"},
		"srt://h":                                      {err: "no port"},
		"srt://h:9000?mode=rendezvous":                 {err: "rendezvous"},
	} {
		s := props.NewSettings(props.Source)
		if _, err := s.SetURI(uri); err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		c, err := s.Snapshot()
		switch {
		case want.err != "":
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v, want %q", uri, err, want.err)
			}
		case err != nil || c.Mode != want.mode || c.Addr != want.addr || c.SRT.LocalAddr != want.local:
			t.Errorf("%s: mode %d, %q, local %q, %v", uri, c.Mode, c.Addr, c.SRT.LocalAddr, err)
		}
	}
}

func TestModePropertyWinsOverTheURI(t *testing.T) {
	s := props.NewSettings(props.Sink)
	if err := s.SetString(props.ConnectionMode, "listener"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetURI("srt://127.0.0.1:9000?mode=caller"); err != nil {
		t.Fatal(err)
	}
	c := snapshot(t, s)
	if c.Mode != props.ModeListener || c.Addr != "127.0.0.1:9000" || s.GetString(props.LocalAddress) != "127.0.0.1" || s.GetInt(props.LocalPort) != 9000 {
		t.Errorf("%+v", c)
	}
	if err := s.SetString(props.ConnectionMode, "caller"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetURI("srt://:9000"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(); err == nil || !strings.Contains(err.Error(), "mode=listener") {
		t.Errorf("a caller without address: %v", err)
	}
}

// C04: all forms of a stream id give the same bytes.
func TestStreamIDForms(t *testing.T) {
	for uri, want := range map[string]string{
		"srt://h:1?streamid=#!::r=live/a,m=publish":                 "#!::r=live/a,m=publish",
		"srt://h:1?streamid=%23%21%3A%3Ar%3Dlive%2Fa%2Cm%3Dpublish": "#!::r=live/a,m=publish",
		"srt://h:1?streamid=a%26b+c&latency=50":                     "a&b+c",
		"srt://h:1?srt_streamid=%25":                                "%",
	} {
		s := props.NewSettings(props.Sink)
		if _, err := s.SetURI(uri); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
		if c := snapshot(t, s); c.SRT.StreamID != want || s.GetString(props.StreamID) != want {
			t.Errorf("%s: %q, want %q", uri, c.SRT.StreamID, want)
		}
	}
	s := props.NewSettings(props.Sink)
	if _, err := s.SetURI("srt://h:1?streamid=100%"); err == nil || !strings.Contains(err.Error(), "%25") {
		t.Errorf("a lone %%: %v", err)
	}
}

func TestWarningsNameOptionAndValue(t *testing.T) {
	for query, want := range map[string]string{
		"latancy=200":            `"latancy" is unknown; did you mean "latency"?`,
		"latency=-5":             "0..65535",
		"latency=fast":           "fast",
		"latency=5":              "20 ms",
		"mss=99999":              "76..1500",
		"tlpktdrop=maybe":        "maybe",
		"mode=server":            "caller, listener",
		"localport=70000":        "70000",
		"packetfilter=fec":       "packetfilter",
		"max-callers=3":          "not for this element",
		"bind=:9":                "localaddress",
		"mss":                    "no value",
		"authentication=perhaps": "perhaps",
		"transtype=file":         "live",
		"passphrase=short":       "10..80",
	} {
		s := props.NewSettings(props.Source)
		w, err := s.SetURI("srt://h:1?" + query)
		if err != nil || len(w) != 1 || !strings.Contains(w[0], want) || strings.Contains(w[0], "short") {
			t.Errorf("%s: %q, %v; want %q", query, w, err, want)
		}
		if got := s.Warnings(); len(got) != len(w) {
			t.Errorf("%s: Warnings = %q", query, got)
		}
		_, err = s.Snapshot()
		kept := query == "latency=-5" || query == "mss=99999" || query == "passphrase=short"
		if kept != (err != nil) {
			t.Errorf("%s: Snapshot: %v", query, err)
		}
	}
}

func TestUnitsOfTheURI(t *testing.T) {
	s := props.NewSettings(props.Source)
	if _, err := s.SetURI("srt://h:1?latency=1.5s&rcvlatency=200&maxbw=1M&transtype=0&minversion=66304&tsbpdmode=YES"); err != nil {
		t.Fatal(err)
	}
	c := snapshot(t, s)
	if s.GetInt(props.Latency) != 1500 || c.SRT.PeerLatency != 1500*time.Millisecond || c.SRT.RcvLatency != 200*time.Millisecond ||
		c.SRT.MaxBW != 1e6 || c.SRT.MinVersion != 66304 || len(s.Warnings()) > 0 {
		t.Errorf("%+v, %q", c.SRT, s.Warnings())
	}
}

func TestUnreadableURIs(t *testing.T) {
	for _, uri := range []string{
		"", "srt:", "srt:/h", "http://h:1", "srt://a:b@h:1", "srt://h:99999", "srt://h:1:2", "srt://[::1", "srt://[h]:1",
		"srt://h:1&latency=5", "srt://h:x", "srt://h h:1", "srt://h:1?streamid=%zz", "srt://h:1?streamid=%+1",
	} {
		if _, err := props.NewSettings(props.Source).SetURI(uri); err == nil {
			t.Errorf("%q was taken", uri)
		}
	}
}

// TestStockOptions: everything that the stock elements' URIs may hold is known
// here, on either side; packetfilter waits for the core.
func TestStockOptions(t *testing.T) {
	for _, option := range strings.Fields(`mode=caller localaddress=127.0.0.1 localport=9001 poll-timeout=100
		mss=1500 fc=25600 sndbuf=8388608 rcvbuf=8388608 latency=125 oheadbw=25 pbkeylen=16 ipttl=64 iptos=184 snddropdelay=0 conntimeo=3000
		lossmaxttl=10 rcvlatency=125 peerlatency=125 minversion=66304 payloadsize=1316 transtype=live kmrefreshrate=1000 kmpreannounce=100
		ipv6only=0 peeridletimeo=5000 retransmitalgo=1 maxbw=-1 inputbw=0 tsbpdmode=true tlpktdrop=on nakreport=yes drifttracer=1
		messageapi=true enforcedencryption=false passphrase=correct-horse streamid=x congestion=live bindtodevice=lo`) {
		for _, side := range []props.Side{props.Source, props.Sink} {
			s := props.NewSettings(side)
			if w, err := s.SetURI("srt://127.0.0.1:9000?" + option); err != nil || len(w) > 0 {
				t.Errorf("%s: %q, %v", option, w, err)
			}
			if _, err := s.Snapshot(); err != nil {
				t.Errorf("%s: %v", option, err)
			}
		}
	}
}
