package gst

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// kind is what a program sees of a message without reading its text: warning or
// error, and the code of GstResourceError.
type kind struct {
	Type string
	Code int
}

const (
	openRead  = 5
	openWrite = 6
	readCode  = 9
	writeCode = 10
)

// TestMessages wants the messages that the stock elements post when something goes
// wrong, by type and code.
func TestMessages(t *testing.T) {
	needGStreamer(t)
	busy, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4zero}) // and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() }) // after the parallel parts
	port := itoa(busy.LocalAddr().(*net.UDPAddr).Port)
	for _, c := range []struct {
		name, words  string
		source, sink kind
	}{
		{"port in use", "uri=srt://0.0.0.0:" + port + "?mode=listener", kind{"error", openRead}, kind{"error", openWrite}},
		{"passphrase too short", "uri=srt://127.0.0.1:" + port + "?passphrase=short", kind{"error", openRead}, kind{"error", openWrite}},
		{"no answer", "uri=srt://127.0.0.1:" + port, kind{"warning", readCode}, kind{"warning", writeCode}},
		{"no answer and one attempt", "auto-reconnect=false uri=srt://127.0.0.1:" + port, kind{"error", readCode}, kind{"error", writeCode}},
	} {
		for _, f := range families() {
			t.Run(c.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				h := startHost(t)
				want := map[string]kind{"src": c.source, "sink": c.sink}
				h.play("src", f.fill("{src} name=srt "+c.words+" ! fakesink async=false"))
				h.play("sink", f.fill(fixed+" ! {sink} name=srt "+c.words))
				for pipe, want := range want {
					if got := firstComplaint(h, pipe); got != want {
						t.Errorf("%s: %+v, want %+v: %s", pipe, got, want, h.story())
					}
				}
			})
		}
	}
}

// firstComplaint waits for the first warning or error of the element named srt.
func firstComplaint(h *host, pipe string) kind {
	h.t.Helper()
	e := h.wait("nothing was posted", func(e event) bool {
		return (busMessage(pipe, "error")(e) || busMessage(pipe, "warning")(e)) && e.Src == "srt" &&
			e.Domain == "gst-resource-error-quark" && !strings.Contains(e.Debug, "processing deadline")
	})
	return kind{e.Type, e.Code}
}

// TestSmallBlocksize: how much a source reads at once does not bound a message.
func TestSmallBlocksize(t *testing.T) {
	needGStreamer(t)
	in, sent := writeInput(t, 5, usual)
	port := port.Free(t)
	got := newCollector()
	launch(t, got, ours.fill("{src} blocksize=188 uri=srt://:{port}?mode=listener ! "+dump, "{port}", itoa(port)))
	proctest.WaitBound(t, "udp", port)
	send := launch(t, nil, ours.fill(paced+" ! {sink} uri=srt://127.0.0.1:{port}", "{in}", in, "{port}", itoa(port)))
	if err := send.Wait(proctest.Patience); err != nil {
		t.Errorf("the sender ended with %v", err)
	}
	settle(got, len(sent))
	wantPart(t, got.bytes(), sent, part{})
}

// socketOf names the socket that is bound to the port, once one is.
func socketOf(t *testing.T, port int) (inode string) {
	t.Helper()
	want := fmt.Sprintf(":%04X", port)
	proctest.Eventually(t, fmt.Sprintf("nobody listens on port %d", port), func() bool {
		for _, name := range []string{"/proc/net/udp", "/proc/net/udp6"} {
			text, _ := os.ReadFile(name)
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) > 9 && strings.HasSuffix(f[1], want) {
					inode = f[9]
				}
			}
		}
		return inode != ""
	})
	return inode
}

// TestPortStaysBound: with keep-listening a source has one and the same socket
// while callers come and go.
func TestPortStaysBound(t *testing.T) {
	h := startHost(t)
	port := port.Free(t)
	h.play("recv", ours.fill("{src} name=srt uri=srt://:"+itoa(port)+"?mode=listener keep-listening=true ! fakesink async=false sync=false"))
	first := socketOf(t, port)
	for i := 1; i <= 3; i++ {
		h.play("send", ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:"+itoa(port)))
		h.waitN(fmt.Sprintf("caller %d was not added", i), i, signal("recv", "caller-added"))
		h.do("free", "send", nil)
		h.waitN("no caller-removed", i, signal("recv", "caller-removed"))
		if now := socketOf(t, port); now != first {
			t.Fatalf("after caller %d the port is bound by socket %q, before by %q", i, now, first)
		}
	}
}
