package gst

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
)

// TestBadInput: what cannot be meant gives an error or a warning with the value
// and the remedy; nothing crashes, nothing hangs.
func TestBadInput(t *testing.T) {
	needGStreamer(t)
	busy, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4zero})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() }) // after the parallel parts
	busyPort := itoa(busy.LocalAddr().(*net.UDPAddr).Port)
	for _, c := range []struct {
		name, words string
		want        []string // in the text or debug of an error or a warning
	}{
		{"passphrase of nine letters", "uri=srt://127.0.0.1:7001 passphrase=123456789", []string{"10", "80"}},
		{"passphrase of nine letters in the uri", "uri=srt://127.0.0.1:7001?passphrase=123456789", []string{"10", "80"}},
		{"negative latency", "uri=srt://127.0.0.1:7001?latency=-5", []string{"latency", "-5"}},
		{"port in use", "uri=srt://0.0.0.0:" + busyPort + "?mode=listener", []string{busyPort}},
		{"rendezvous", "uri=srt://127.0.0.1:7001?mode=rendezvous", []string{"rendezvous"}},
		{"mode none", "uri=srt://127.0.0.1:7001 mode=none", []string{"mode"}},
		{"stream id of 513 letters", "uri=srt://127.0.0.1:7001 streamid=" + strings.Repeat("x", 513), []string{"512"}},
		{"key length of the uri", "uri=srt://127.0.0.1:7001?pbkeylen=17&passphrase=0123456789ab", []string{"pbkeylen", "17"}},
		{"name that does not resolve", "uri=srt://nobody.invalid:7001 auto-reconnect=false", []string{"nobody.invalid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := startHost(t)
			for side, line := range map[string]string{"src": "{src} name=srt " + c.words + " ! fakesink async=false", "sink": fixed + " ! {sink} name=srt " + c.words} {
				h.play(side, ours.fill(line))
				e := h.wait("no error and no warning", func(e event) bool {
					return (busMessage(side, "error")(e) || busMessage(side, "warning")(e)) && e.Src == "srt" && !strings.Contains(e.Debug, "processing deadline")
				})
				for _, want := range c.want {
					if !strings.Contains(e.Text+e.Debug, want) {
						t.Errorf("%s: %q (%q) does not say %q", side, e.Text, e.Debug, want)
					}
				}
				if strings.Contains(e.Text+e.Debug, "123456789") {
					t.Errorf("%s: the passphrase is in %q (%q)", side, e.Text, e.Debug)
				}
				if a := h.state(side, "NULL"); a.MS > 500 {
					t.Errorf("%s: NULL took %.0f ms", side, a.MS)
				}
			}
		})
	}
}

// TestUnreadableURI: refused at once, with the value, and the old one stays.
func TestUnreadableURI(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	h.launch("p", ours.fill("fakesrc ! {sink} name=srt uri=srt://127.0.0.1:9000"))
	for _, bad := range []string{"http://127.0.0.1:9000", "srt://127.0.0.1:99999", "srt://[::1:9000", "srt://127.0.0.1:port", ""} {
		if a := h.do("seturi", "p", args{"value": bad}); a.Ev == "answer" && (a.OK || a.Failed == "" && a.Text == "") {
			t.Errorf("%q: accepted %v, %q", bad, a.OK, a.Text)
		}
	}
	if uri, _ := h.get("p", "uri").(string); !strings.HasPrefix(uri, "srt://127.0.0.1:9000") {
		t.Errorf("uri is now %q", uri)
	}
}

// TestURIWhileOpen: an open element keeps its URI, says so, and starts again with
// it, whatever it was given meanwhile.
func TestURIWhileOpen(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	uri := "srt://:" + itoa(port.Free(t)) + "?mode=listener"
	h.play("p", ours.fill("{src} name=srt uri="+uri+" ! fakesink async=false"))
	for _, other := range []string{"srt://127.0.0.1:9000", "srt://127.0.0.1:99999", "srt://?streamid=%"} {
		if a := h.do("seturi", "p", args{"value": other}); a.OK || !strings.Contains(a.Text, "READY") {
			t.Errorf("%q: accepted %v, %q", other, a.OK, a.Text)
		}
		h.do("set", "p", args{"prop": "uri", "value": other})
	}
	h.do("set", "p", args{"prop": "uri", "value": nil})
	h.state("p", "NULL")
	if a := h.do("state", "p", args{"to": "PLAYING", "wait": 5000}); a.State != "playing" {
		t.Errorf("started again it is %s (%s): %s", a.State, a.Ret, h.story())
	}
	if got := h.get("p", "uri"); got != uri {
		t.Errorf("the uri is now %v", got)
	}
}

// TestWrongPassphrase: an error with the reason by name and code, not a retry
// for ever.
func TestWrongPassphrase(t *testing.T) {
	needGStreamer(t)
	for _, p := range pairings() {
		if p.send != ours && p.recv != ours {
			continue
		}
		t.Run(p.name(), func(t *testing.T) {
			t.Parallel()
			h := startHost(t)
			port := itoa(port.Free(t))
			const sinkWords, srcWords = " ! {sink} name=srt uri=", "{src} name=srt uri="
			if p.send == ours {
				h.play("recv", p.recv.fill(srcWords+"srt://:"+port+"?mode=listener&passphrase=right-passphrase&pbkeylen=16 ! fakesink async=false"))
				h.play("call", p.send.fill(fixed+sinkWords+"srt://127.0.0.1:"+port+"?passphrase=wrong-passphrase&pbkeylen=16"))
			} else {
				h.play("send", p.send.fill(fixed+sinkWords+"srt://:"+port+"?mode=listener&passphrase=right-passphrase&pbkeylen=16"))
				h.play("call", p.recv.fill(srcWords+"srt://127.0.0.1:"+port+"?passphrase=wrong-passphrase&pbkeylen=16 ! fakesink async=false"))
			}
			e := h.wait("no error", busMessage("call", "error"))
			wantReason(t, e)
			if strings.Contains(e.Text+e.Debug, "wrong-passphrase") {
				t.Errorf("the passphrase is in %q (%q)", e.Text, e.Debug)
			}
		})
	}
}

// TestOtherThreads: statistics read and properties set from other threads while
// the state changes.
func TestOtherThreads(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	port := itoa(port.Free(t))
	h.launch("recv", ours.fill("{src} name=srt uri=srt://:"+port+"?mode=listener ! fakesink async=false sync=false"))
	h.launch("send", ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:"+port))
	rounds := 40
	if short() {
		rounds = 15
	}
	ids := []int{}
	for i := range rounds {
		for _, p := range []string{"recv", "send"} {
			ids = append(ids, h.tell("stats", p, args{"aside": true}),
				h.tell("set", p, args{"aside": true, "prop": "latency", "value": 100 + i}),
				h.tell("set", p, args{"aside": true, "prop": "wait-for-connection", "value": i%2 == 0}),
				h.tell("get", p, args{"aside": true, "prop": "uri"}),
				h.tell("latency", p, args{"aside": true}))
			h.state(p, []string{"PLAYING", "NULL", "PLAYING", "READY"}[i%4])
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, id := range ids {
		if a := h.answer(id, "a command from another thread"); a.Failed != "" {
			t.Error(a.Failed)
		}
	}
}
