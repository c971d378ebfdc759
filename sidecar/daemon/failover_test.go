package daemon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/port"
)

// Two publishers send the same route; when the preferred one is lost its player
// goes on with the other's messages, each whole, and nobody is disconnected.
func TestFailOverBetweenPublishers(t *testing.T) {
	r := newRig(t, `routes:
  - name: show
    failover-after: 30s
    sources: [ { publish: { listener: main, stream: a } }, { publish: { listener: main, stream: b } } ]
    outputs: [ { play: { listener: main, stream: show } } ]
`)
	player, a, b := r.play("show"), r.publish("a"), r.publish("b")
	r.up("show", 1)
	const n = 50
	r.feed(a, 'a', 0, n)
	r.wantStream(player, 'a', 0, n)
	r.feed(b, 'b', 0, n) // thrown away, but for what the latency still holds
	a.Close()
	r.eventually("the first to be gone", func() bool {
		s := r.Routes()[0]
		return len(s.Source.Sessions) == 0 && len(s.Spares) == 1
	})
	r.feed(b, 'b', n, 2*n)
	first := r.firstOf(player, 'b', 2*n)
	r.wantStream(player, 'b', first+1, 2*n)
	s := r.Routes()[0]
	if len(s.Outputs[0].Sessions) != 1 || s.Outputs[0].Opened != 1 || len(s.Source.Sessions) != 1 {
		t.Errorf("after the change: %+v", s)
	}
	all, _ := r.Events(0)
	found := 0
	for _, e := range all {
		if e.Kind == "failover" && e.Route == "show" && strings.Contains(e.Text, "its connection has ended") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d changes were told: %+v", found, all)
	}
}

// firstOf reads one message of a stream and returns its number.
func (r *rig) firstOf(c *srtcore.Conn, stream byte, below int) int {
	r.t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 2000)
	n, err := c.Read(b)
	i := 0
	if err == nil && n > 8 {
		i = int(binary.BigEndian.Uint32(b[4:]))
	}
	if err != nil || i >= below || !bytes.Equal(b[:n], message(stream, i)) {
		r.t.Fatalf("stream %c: %d bytes, number %d, %v", stream, n, i, err)
	}
	return i
}

// What one end has no other gets: the file of an output, the port of a route.
func TestWhatIsTakenIsRefused(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a")+studio("b"))
	file := filepath.Join(t.TempDir(), "out.ts")
	out := config.Output{URL: "file://" + file}
	id, err := r.AddOutput("a", out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.AddOutput("b", out); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), "written by") {
		t.Errorf("a file for two outputs: %v", err)
	}
	ref := config.Ref{Listener: "main", Stream: "x"}
	x := config.Route{Name: "x", Sources: []config.Source{{Publish: &ref}}, Outputs: []config.Output{out}}
	if err := r.AddRoute(x); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), "written by") {
		t.Errorf("a route to the file: %v", err)
	}
	if err := r.RemoveOutput("a", id); err != nil {
		t.Fatal(err)
	}
	if err := r.AddRoute(x); err != nil {
		t.Errorf("a file that is free again: %v", err)
	}
	y := config.Route{Name: "y", Sources: []config.Source{{URL: "srt://" + r.address() + "?mode=listener"}}}
	if err := r.AddRoute(y); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), fmt.Sprintf("udp port %d is used by address of listener main", r.port)) {
		t.Errorf("the port of a listener: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	r.wantPortsRefused()
}

// wantPortsRefused: an address that another route, or another program, has.
func (r *rig) wantPortsRefused() {
	r.t.Helper()
	at := "tcp://" + port.Addr(r.t)
	one := config.Route{Name: "one", Sources: []config.Source{{URL: at}}}
	if err := r.AddRoute(one); err != nil {
		r.t.Fatal(err)
	}
	two := config.Route{Name: "two", Sources: []config.Source{{URL: at}}}
	if err := r.AddRoute(two); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), "used by sources[0].url of route one") {
		r.t.Errorf("a second route on a port: %v", err)
	}
	if _, err := r.AddOutput("b", config.Output{URL: at + "?listen=1"}); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), "outputs[1].url of route b") {
		r.t.Errorf("an output on a route's port: %v", err)
	}
	ref := config.Ref{Listener: "main", Stream: "a"}
	if _, err := r.AddOutput("b", config.Output{Play: &ref}); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), `has "a" to play already`) {
		r.t.Errorf("a stream that is played: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	defer taken.Close()
	if _, err := r.AddOutput("b", config.Output{URL: fmt.Sprintf("tcp://%s?listen=1", taken.Addr())}); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), "in use") {
		r.t.Errorf("another program's port: %v", err)
	}
	// What is wrong by itself is no conflict, even beside one.
	two.Queue = 1
	if err := r.AddRoute(two); !errors.Is(err, control.ErrInvalid) || errors.Is(err, control.ErrConflict) {
		r.t.Errorf("a queue of one byte: %v", err)
	}
	if n := len(r.route("b").Outputs); n != 1 {
		r.t.Errorf("%d outputs after all were refused", n)
	}
}

// The messages of a byte stream fit the smallest payload size of the outputs.
func TestMessagesFitTheOutputs(t *testing.T) {
	cfg := srtcore.DefaultConfig()
	ln, err := srtcore.Listen(t.Context(), "127.0.0.1:0", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	file := filepath.Join(t.TempDir(), "in.ts")
	var text []byte
	for i := range 20 {
		text = append(text, message('f', i)...)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	newRig(t, fmt.Sprintf("routes:\n  - { name: f, sources: [ { url: 'file://%s' } ], outputs: [ { url: 'srt://%s?payloadsize=564&latency=60' } ] }\n", file, ln.Addr()))
	c, err := ln.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Abort()
	got, b := []byte{}, make([]byte, 2000)
	for len(got) < len(text) {
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if n != 564 && len(got)+n < len(text) {
			t.Fatalf("a message of %d bytes, want 564", n)
		}
		got = append(got, b[:n]...)
	}
	if string(got) != string(text) {
		t.Error("other bytes came")
	}
}

// hold-off: 0s goes back to the preferred source as soon as media comes from it: two
// messages are no time at all.
func TestHoldOffOfNothing(t *testing.T) {
	r := newRig(t, `routes:
  - name: show
    failover-after: 100ms
    hold-off: 0s
    sources: [ { publish: { listener: main, stream: a } }, { publish: { listener: main, stream: b } } ]
`)
	b := r.publish("b")
	sent := 0
	r.eventually("the spare to be used", func() bool {
		r.feed(b, 'b', sent, sent+1)
		sent++
		return len(r.kinds("failover")) == 1
	})
	a := r.publish("a")
	r.feed(a, 'a', 0, 2)
	r.eventually("the change", func() bool { return len(r.kinds("failover")) == 2 })
}
