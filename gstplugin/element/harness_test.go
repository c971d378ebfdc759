package element_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// patience bounds every wait for something that ought to happen.
const patience = 20 * time.Second

// host notes what an element says.
type host struct {
	mu      sync.Mutex
	changed chan struct{}
	events  []string
	reports []element.Report // errors and warnings
	on      func(event string)
	deny    bool
}

func newHost() *host { return &host{changed: make(chan struct{})} }

func (h *host) note(event string) {
	h.mu.Lock()
	h.events = append(h.events, event)
	close(h.changed)
	h.changed = make(chan struct{})
	on := h.on
	h.mu.Unlock()
	if on != nil {
		on(event)
	}
}

func (h *host) CallerAdded(a netip.AddrPort)   { h.note("added") }
func (h *host) CallerRemoved(a netip.AddrPort) { h.note("removed") }
func (h *host) ConnectionRemoved()             { h.note("connection-removed") }
func (h *host) LatencyChanged()                { h.note("latency") }

func (h *host) CallerConnecting(a netip.AddrPort, id string) bool {
	h.note("connecting " + id)
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.deny
}

func (h *host) CallerRejected(a netip.AddrPort, id string) { h.note("rejected " + id) }

func (h *host) Warning(r element.Report) { h.report("warning", r) }
func (h *host) Error(r element.Report)   { h.report("error", r) }

func (h *host) report(kind string, r element.Report) {
	h.mu.Lock()
	h.reports = append(h.reports, r)
	h.mu.Unlock()
	h.note(kind + " " + r.Reason)
}

func (h *host) count(event string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e == event {
			n++
		}
	}
	return n
}

func (h *host) lastReport() element.Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.reports) == 0 {
		return element.Report{}
	}
	return h.reports[len(h.reports)-1]
}

// want waits for the nth event of a name.
func (h *host) want(t *testing.T, event string, n int) {
	t.Helper()
	deadline := time.After(patience)
	for {
		h.mu.Lock()
		ch := h.changed
		h.mu.Unlock()
		if h.count(event) >= n {
			return
		}
		select {
		case <-ch:
		case <-deadline:
			h.mu.Lock()
			defer h.mu.Unlock()
			t.Fatalf("waited in vain for %q (%d times); had %q", event, n, h.events)
		}
	}
}

// wantSoon waits for a condition that other goroutines bring about.
func wantSoon(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			buf := make([]byte, 1<<16)
			t.Fatalf("waited in vain for %s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
	}
}

// leakCheck wants goroutines and descriptors back at the end of the test. The
// runtime that all elements share is started before.
func leakCheck(t *testing.T) {
	t.Helper()
	l, err := srtcore.Listen(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	goroutines := runtime.NumGoroutine()
	t.Cleanup(func() {
		wantSoon(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
	})
}

func openFDs(t *testing.T) int {
	t.Helper()
	e, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(e)
}

type source struct {
	*element.Source
	*host
	set *props.Settings
}

type sink struct {
	*element.Sink
	*host
	set *props.Settings
}

func settings(t *testing.T, side props.Side, uri string) *props.Settings {
	t.Helper()
	s := props.NewSettings(side)
	if _, err := s.SetURI(uri); err != nil {
		t.Fatal(err)
	}
	return s
}

func newSource(t *testing.T, uri string) *source {
	t.Helper()
	s := &source{host: newHost(), set: settings(t, props.Source, uri)}
	s.Source = element.NewSource(s.host, s.set)
	t.Cleanup(s.Stop)
	return s
}

func newSink(t *testing.T, uri string) *sink {
	t.Helper()
	s := &sink{host: newHost(), set: settings(t, props.Sink, uri)}
	s.Sink = element.NewSink(s.host, s.set)
	t.Cleanup(s.Stop)
	return s
}

// start fails the test if the element does not start, or waits for anything.
func start(t *testing.T, e interface{ Start() error }) {
	t.Helper()
	begin := time.Now()
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("Start took %v", d)
	}
}

func stop(t *testing.T, e interface{ Stop() }) {
	t.Helper()
	begin := time.Now()
	e.Stop()
	if d := time.Since(begin); d > 500*time.Millisecond {
		t.Errorf("Stop took %v", d)
	}
}

func loopback(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func listenerURI(port int, options string) string {
	return fmt.Sprintf("srt://127.0.0.1:%d?mode=listener&latency=20%s", port, options)
}

func callerURI(port int, options string) string {
	return fmt.Sprintf("srt://127.0.0.1:%d?latency=20&conntimeo=500%s", port, options)
}

// message is number i of a stream.
func message(i int) []byte {
	b := make([]byte, 1316)
	binary.BigEndian.PutUint32(b, uint32(i))
	for j := 4; j < len(b); j++ {
		b[j] = byte(i + j)
	}
	return b
}

func messages(from, to int) (out [][]byte) {
	for i := from; i < to; i++ {
		out = append(out, message(i))
	}
	return out
}

func (s *sink) wantWrite(t *testing.T, msgs [][]byte) {
	t.Helper()
	if _, st := s.Write(msgs, time.Time{}); st != element.OK {
		t.Fatalf("Write = %v, want OK", st)
	}
}

// read reads n packets, copies them and gives them back.
func (s *source) read(t *testing.T, n int) (out []element.Packet) {
	t.Helper()
	watchdog := time.AfterFunc(patience, s.Unlock)
	defer watchdog.Stop()
	var ps [16]element.Packet
	for len(out) < n {
		k, st := s.Read(ps[:min(len(ps), n-len(out))])
		if st != element.OK {
			t.Fatalf("Read = %v after %d of %d packets", st, len(out), n)
		}
		for _, p := range ps[:k] {
			p.Payload = append([]byte(nil), p.Payload...)
			out = append(out, p)
		}
		s.Release(ps[:k])
	}
	return out
}

// wantMessages reads messages number from to to-1.
func (s *source) wantMessages(t *testing.T, from, to int) []element.Packet {
	t.Helper()
	ps := s.read(t, to-from)
	for i, p := range ps {
		if string(p.Payload) != string(message(from+i)) {
			t.Fatalf("packet %d is not message %d but %d, %d bytes", i, from+i, binary.BigEndian.Uint32(p.Payload), len(p.Payload))
		}
	}
	return ps
}

// wantStatus reads until there is no packet.
func (s *source) wantStatus(t *testing.T, want element.Status) {
	t.Helper()
	watchdog := time.AfterFunc(patience, s.Unlock)
	defer watchdog.Stop()
	var ps [16]element.Packet
	for {
		n, st := s.Read(ps[:])
		s.Release(ps[:n])
		if st == want {
			return
		}
		if st != element.OK {
			t.Fatalf("Read = %v, want %v", st, want)
		}
	}
}
