package gst

import (
	"strconv"
	"strings"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// permutations returns every order of the words.
func permutations(words []string) (out [][]string) {
	if len(words) < 2 {
		return [][]string{words}
	}
	for i := range words {
		rest := append(append([]string{}, words[:i]...), words[i+1:]...)
		for _, p := range permutations(rest) {
			out = append(out, append([]string{words[i]}, p...))
		}
	}
	return out
}

// TestPropertyOrder is case C19: whatever the order in which properties are set,
// the offer on the wire is the same.
func TestPropertyOrder(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	want := offer{latency: 777, streamID: "hello", keyLen: 24}
	words := []string{"latency=777", "passphrase=0123456789ab", "streamid=hello", "pbkeylen=24", "uri=srt://127.0.0.1:{port}"}
	orders := permutations(words)
	if short() {
		var kept [][]string
		for i := 0; i < len(orders); i += 7 {
			kept = append(kept, orders[i])
		}
		orders = kept
	}
	for _, order := range orders {
		got, _ := offerOf(t, h, ours.fill(fixed+" ! {sink} name=srt "+strings.Join(order, " ")))
		if got != want {
			t.Errorf("%v: offered %+v, want %+v", order, got, want)
		}
	}
}

// TestPropertyWinsOverURI: an explicit property wins whatever the order; a
// second URI replaces only what the first one set.
func TestPropertyWinsOverURI(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	const uri = "uri=srt://127.0.0.1:{port}?latency=100&streamid=of-uri"
	for _, c := range []struct {
		words string
		want  offer
	}{
		{"latency=300 " + uri, offer{latency: 300, streamID: "of-uri"}},
		{uri + " latency=300", offer{latency: 300, streamID: "of-uri"}},
		{uri + " uri=srt://127.0.0.1:{port}?latency=100", offer{latency: 100}},
		{"streamid=mine " + uri + " uri=srt://127.0.0.1:{port}", offer{latency: 125, streamID: "mine"}},
		{"passphrase=0123456789ab uri=srt://127.0.0.1:{port}?passphrase=another-secret&pbkeylen=32", offer{latency: 125, keyLen: 32}},
		{"mode=caller localport=0 uri=srt://127.0.0.1:{port}", offer{latency: 125}},
		{"uri=srt://127.0.0.1:{port}?mode=listener mode=caller", offer{latency: 125}},
	} {
		for _, line := range []string{fixed + " ! {sink} name=srt " + c.words, "{src} name=srt " + c.words + " ! fakesink"} {
			if got, _ := offerOf(t, h, ours.fill(line)); got != c.want {
				t.Errorf("%s: offered %+v, want %+v", line, got, c.want)
			}
		}
	}
}

// TestPassphraseIsHidden: what is read back never shows the secret.
func TestPassphraseIsHidden(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	h.launch("p", ours.fill("fakesrc ! {sink} name=srt uri=srt://127.0.0.1:9000?passphrase=top-secret-words&latency=200"))
	uri, _ := h.get("p", "uri").(string)
	if strings.Contains(uri, "top-secret") || !strings.Contains(uri, "passphrase=") || !strings.Contains(uri, "latency=200") {
		t.Errorf("uri reads back as %q", uri)
	}
	if a := h.do("get", "p", args{"prop": "passphrase"}); a.Failed == "" && a.Value != nil {
		t.Errorf("passphrase reads back as %v", a.Value)
	}
}

// TestStreamIDInURI is the GStreamer part of case C04: one set of bytes from
// every way to write it.
func TestStreamIDInURI(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	const id = "#!::r=live/a,m=publish"
	for _, c := range []struct{ words, want string }{
		{"uri=srt://127.0.0.1:{port}?streamid=#!::r=live/a,m=publish", id},
		{"uri=srt://127.0.0.1:{port}?streamid=%23%21%3A%3Ar%3Dlive%2Fa%2Cm%3Dpublish", id},
		{"uri=srt://127.0.0.1:{port}?streamid=a%26b", "a&b"},
		{`uri=srt://127.0.0.1:{port} streamid="#!::r=live/a,m=publish"`, id},
		{`streamid="100%" uri=srt://127.0.0.1:{port}`, "100%"},
	} {
		for _, line := range []string{fixed + " ! {sink} name=srt " + c.words, "{src} name=srt " + c.words + " ! fakesink"} {
			if got, came := offerOf(t, h, ours.fill(line)); got.streamID != c.want {
				t.Errorf("%s: stream id %q (offered: %v), want %q", line, got.streamID, came, c.want)
			}
		}
	}
	// A lone percent sign is an error that names it, and nothing is sent.
	h.launch("lone", ours.fill(fixed+" ! {sink} name=srt"))
	port, offers := listenForOffer(t)
	a := h.do("seturi", "lone", args{"value": "srt://127.0.0.1:" + itoa(port) + "?streamid=100%"})
	h.state("lone", "PLAYING")
	select {
	case o := <-offers:
		t.Errorf("offered %+v for streamid=100%%", o)
	default:
	}
	if a.OK || !strings.Contains(a.Text, "%") {
		t.Errorf("streamid=100%%: accepted %v, %q", a.OK, a.Text)
	}
}

// TestUnits is the GStreamer part of case C22: milliseconds; a key that does not
// exist and a value that cannot be meant are named in a warning.
func TestUnits(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	for _, c := range []struct {
		query   string
		latency int
		warn    string // word of the warning, empty: none
	}{
		{"latency=200", 200, ""},
		{"latency=200ms", 200, ""},
		{"latency=2s", 2000, ""},
		{"latency=1", 1, "latency"},
		{"latancy=200", 125, "latancy"},
		{"latency=200000", 125, "latency"},
		{"payload_size=1316", 125, ""}, // srt-live-transmit's and ffmpeg's spellings
		{"pkt_size=1316", 125, ""},
		{"mode=server", 125, "server"},
		{"tsbpdmode=maybe", 125, "tsbpdmode"},
	} {
		h.mu.Lock()
		h.seen = nil
		h.mu.Unlock()
		got, came := offerOf(t, h, ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:{port}?"+c.query))
		said := h.events(func(e event) bool {
			return (busMessage("offer", "warning")(e) || busMessage("offer", "error")(e)) && strings.Contains(e.Text+e.Debug, c.warn)
		})
		if came && got.latency != c.latency {
			t.Errorf("%s: offered latency %d, want %d", c.query, got.latency, c.latency)
		}
		if !came && h.count(busMessage("offer", "error")) == 0 {
			t.Errorf("%s: nothing offered and no error", c.query)
		}
		if c.warn != "" && len(said) == 0 {
			t.Errorf("%s: no warning names %q: %s", c.query, c.warn, h.story())
		}
		if n := h.count(func(e event) bool {
			return busMessage("offer", "warning")(e) && e.Src == "srt" && !strings.Contains(e.Debug, "buffering")
		}); c.warn == "" && n > 0 {
			t.Errorf("%s: an unwanted warning: %s", c.query, h.story())
		}
	}
}
