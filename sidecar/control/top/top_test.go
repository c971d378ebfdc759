package top

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/control/client"
	"github.com/weirline/weirline/tests/api/fake"
	"github.com/weirline/weirline/tests/proctest"
)

func serve(t *testing.T, d control.Daemon) (*control.Server, *client.Client) {
	t.Helper()
	s, err := control.NewServer(control.Options{Daemon: d, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return s, c
}

func live(t *testing.T, d control.Daemon) *control.Live {
	t.Helper()
	_, c := serve(t, d)
	var l control.Live
	if err := c.Do(t.Context(), "GET", "/v1/stats", nil, &l); err != nil {
		t.Fatal(err)
	}
	return &l
}

func TestOncePrintsOneTable(t *testing.T) {
	d := fake.New(3)
	d.Advance(time.Second)
	_, c := serve(t, d)
	var b bytes.Buffer
	if err := Once(t.Context(), c, &b, 160); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"routes 2/3", "connections 6", "studio-a", "back-off", "no space left", "192.0.2.11:50001", "u=viewer2", "RTT"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing:\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if len([]rune(line)) > 161 {
			t.Errorf("longer than 160: %q", line)
		}
	}
}

// TestTerminalIsSafe: what comes from the network cannot steer the terminal.
func TestTerminalIsSafe(t *testing.T) {
	l := live(t, fake.New(1))
	l.Connections[0].StreamID = "a\x1b]0;owned\x07\n\u202eb"
	l.Routes[0].Source.Error = "\x1b[2J"
	text := strings.Join(Render(l, []control.Event{{Text: "\x1b[31m\r", Level: "info"}}, View{Width: 200}), "\n")
	if strings.ContainsAny(text, "\x1b\x07\r\u202e") {
		t.Errorf("%q", text)
	}
}

func TestFitsTheTerminal(t *testing.T) {
	l := live(t, fake.New(100))
	events := []control.Event{{Text: "one", Level: "warn"}, {Text: "two", Level: "error"}}
	for _, size := range [][2]int{{200, 50}, {80, 24}, {40, 10}, {1, 1}} {
		lines := Render(l, events, View{Width: size[0], Height: size[1]})
		if len(lines) > size[1] {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines {
			if len([]rune(line)) > max(20, size[0]) {
				t.Errorf("%v: %q", size, line)
			}
		}
	}
	text := strings.Join(Render(l, events, View{Width: 120, Height: 24}), "\n")
	if !strings.Contains(text, "more") || !strings.Contains(text, "two") {
		t.Errorf("%s", text)
	}
}

func TestSortAndScroll(t *testing.T) {
	s := state{live: live(t, fake.New(9)), view: View{Sort: 2, Width: 160}}
	first := func() string {
		lines := connections(s.live, s.view, 0)
		return lines[1]
	}
	if !strings.Contains(first(), "192.0.2.10:50000") {
		t.Errorf("by peer: %s", first())
	}
	s.press("r")
	if !strings.Contains(first(), "203.0.113.7") {
		t.Errorf("by peer, reversed: %s", first())
	}
	s.press("\x1b[B")
	if strings.Contains(first(), "203.0.113.7") {
		t.Errorf("scrolled: %s", first())
	}
	for range 50 {
		s.press(" ")
	}
	if first() == "" {
		t.Error("scrolled past the end")
	}
	if s.press("q") {
		t.Error("q does not quit")
	}
}

// TestNarrow: what is important stays, columns out of sight are not sorted by, and
// an end without a peer is shown by its address.
func TestNarrow(t *testing.T) {
	l := live(t, fake.New(3))
	l.Connections = append(l.Connections, control.LiveConnection{Route: "studio-a", Direction: control.Send, URL: "file:///var/rec/a.ts"})
	for width, want := range map[int]string{
		160: "ROUTE PEER STREAM ID AGE MBIT/S RTT LOSS% RESENT DROPPED BUFFER",
		80:  "ROUTE PEER MBIT/S RTT LOSS% DROPPED BUFFER",
		40:  "PEER MBIT/S RTT",
		20:  "PEER MBIT/S",
	} {
		lines := connections(l, View{Width: width}, 0)
		if got := strings.Join(strings.Fields(lines[0]), " "); got != want {
			t.Errorf("%d: %s, want %s", width, got, want)
		}
		if text := strings.Join(lines, "\n"); width >= 40 && !strings.Contains(text, "file:///var/rec/a.ts") {
			t.Errorf("%d: no address of the file:\n%s", width, text)
		}
		s := state{live: l, view: View{Sort: 1, Width: width}}
		for range 2 * len(columns) {
			s.press("s")
			if layout(width)[s.view.Sort] == 0 {
				t.Errorf("%d: sorted by %s, which is not shown", width, columns[s.view.Sort].head)
			}
		}
	}
}

// screen is a terminal that remembers what was written.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

func TestRunShowsAndQuits(t *testing.T) {
	d := fake.New(2)
	_, c := serve(t, d)
	out := &screen{}
	keys, typed := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), c, Screen{Out: out, Keys: keys, Size: func() (int, int) { return 140, 40 }})
	}()
	waitFor(t, "the table and an event", func() bool { return out.has("192.0.2.10:50000") && out.has("output-down") })
	io.WriteString(typed, "q")
	if err := <-done; err != nil {
		t.Error(err)
	}
	typed.Close()
	if !out.has("\x1b[?25h\x1b[?1049l") {
		t.Error("the terminal is not as it was")
	}
}

func TestRunSaysWhyItIsRefused(t *testing.T) {
	s, err := control.NewServer(control.Options{Daemon: fake.New(0), Token: "0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	c, err := client.New(srv.URL, "wrong")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	keys, typed := io.Pipe()
	defer typed.Close()
	err = Run(t.Context(), c, Screen{Out: io.Discard, Keys: keys, Size: func() (int, int) { return 80, 24 }})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 401 || !strings.Contains(err.Error(), "control.token") {
		t.Errorf("got %v", err)
	}
}

func TestRunWaitsForTheDaemon(t *testing.T) {
	c, err := client.New("127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	out := &screen{}
	keys, typed := io.Pipe()
	defer typed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, c, Screen{Out: out, Keys: keys, Size: func() (int, int) { return 120, 24 }})
	}()
	waitFor(t, "the reason", func() bool { return out.has("no daemon answers") })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	proctest.Eventually(t, "waited in vain for "+what, ok)
}
