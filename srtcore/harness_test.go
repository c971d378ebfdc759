package srtcore_test

import (
	"context"
	"encoding/binary"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// patience bounds every wait for something that ought to happen.
const patience = 20 * time.Second

// rig is a runtime of its own and a configuration that uses it; its end checks
// that goroutines and descriptors are back to what they were.
type rig struct {
	t       *testing.T
	ctx     context.Context
	runtime *srtcore.Runtime
	cfg     srtcore.Config

	portable bool
}

func newRig(t *testing.T, rc srtcore.RuntimeConfig) *rig {
	t.Helper()
	goroutines, fds := runtime.NumGoroutine(), openFDs(t)
	r, err := srtcore.NewRuntime(rc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cfg := srtcore.DefaultConfig()
	cfg.Runtime = r
	cfg.RcvLatency = 20 * time.Millisecond
	t.Cleanup(func() {
		cancel()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		wantSoon(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
		wantSoon(t, "descriptors to close", func() bool { return openFDs(t) <= fds })
	})
	return &rig{t: t, ctx: ctx, runtime: r, cfg: cfg, portable: rc.Portable}
}

func openFDs(t *testing.T) int {
	t.Helper()
	e, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // a system without
	}
	return len(e)
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

func (r *rig) listen(addr string, change ...func(*srtcore.Config)) *srtcore.Listener {
	r.t.Helper()
	cfg := r.cfg
	for _, f := range change {
		f(&cfg)
	}
	l, err := srtcore.Listen(r.ctx, addr, &cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	return l
}

func (r *rig) dial(addr string, change ...func(*srtcore.Config)) *srtcore.Conn {
	r.t.Helper()
	c, err := r.tryDial(addr, change...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Abort() })
	return c
}

func (r *rig) tryDial(addr string, change ...func(*srtcore.Config)) (*srtcore.Conn, error) {
	cfg := r.cfg
	for _, f := range change {
		f(&cfg)
	}
	return srtcore.Dial(r.ctx, addr, &cfg)
}

func (r *rig) accept(l *srtcore.Listener) *srtcore.Conn {
	r.t.Helper()
	c, err := l.Accept(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Abort() })
	return c
}

// pair returns the caller's and the listener's end of a connection.
func (r *rig) pair(change ...func(*srtcore.Config)) (caller, accepted *srtcore.Conn) {
	r.t.Helper()
	l := r.listen("127.0.0.1:0", change...)
	caller = r.dial(l.Addr().String(), change...)
	return caller, r.accept(l)
}

// message is number i of a stream: the stream's name, the number, and a filling
// that depends on both.
func message(stream byte, i int) []byte {
	b := make([]byte, 1316)
	b[0] = stream
	binary.BigEndian.PutUint32(b[1:], uint32(i))
	for j := 5; j < len(b); j++ {
		b[j] = byte(i + j + int(stream))
	}
	return b
}

// mustWrite writes count messages of a stream, a few each millisecond.
func (r *rig) mustWrite(c *srtcore.Conn, stream byte, count int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range count {
		if i%4 == 0 {
			<-tick.C
		}
		if n, err := c.Write(message(stream, i)); n != 1316 || err != nil {
			r.t.Errorf("stream %d, message %d: Write = %d, %v", stream, i, n, err)
			return
		}
	}
}

// mustRead reads count messages of a stream and checks every byte.
func (r *rig) mustRead(c *srtcore.Conn, stream byte, count int) {
	b := make([]byte, 1500)
	for i := range count {
		n, err := c.Read(b)
		if err != nil {
			r.t.Errorf("stream %d, message %d: %v", stream, i, err)
			return
		}
		if string(b[:n]) != string(message(stream, i)) {
			r.t.Errorf("stream %d, message %d: wrong content (is stream %d, message %d, %d bytes)",
				stream, i, b[0], binary.BigEndian.Uint32(b[1:]), n)
			return
		}
	}
}

// wantRead reads one message and compares.
func (r *rig) wantRead(c *srtcore.Conn, want string) {
	r.t.Helper()
	b := make([]byte, 1500)
	n, err := c.Read(b)
	if err != nil || string(b[:n]) != want {
		r.t.Fatalf("Read = %q, %v; want %q", b[:n], err, want)
	}
}

func (r *rig) wantWrite(c *srtcore.Conn, s string) {
	r.t.Helper()
	if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
		r.t.Fatalf("Write = %d, %v", n, err)
	}
}

// runtimes are the ways of input and output that must behave alike.
var runtimes = map[string]srtcore.RuntimeConfig{
	"default":  {},
	"plain":    {NoGSO: true, NoGRO: true},
	"portable": {Portable: true},
	"shards":   {Shards: 3},
}

func onRuntimes(t *testing.T, f func(t *testing.T, r *rig)) {
	for name, rc := range runtimes {
		t.Run(name, func(t *testing.T) { f(t, newRig(t, rc)) })
	}
}
