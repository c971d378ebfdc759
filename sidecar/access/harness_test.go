package access_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/access"
	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/endpoint"
)

const patience = 20 * time.Second

// TestMain starts what all tests share, so that none finds it leaked.
func TestMain(m *testing.M) {
	cfg := srtcore.DefaultConfig()
	ln, err := srtcore.Listen(context.Background(), "127.0.0.1:0", &cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = ln.Close()
	os.Exit(m.Run())
}

// logText is a log that a test can read.
type logText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// rig is a listening port and callers.
type rig struct {
	t    *testing.T
	ctx  context.Context
	port *access.Port
	log  *logText
}

// newRig listens with cfg. Its end checks that nothing is left running.
func newRig(t *testing.T, cfg config.Listener) *rig {
	t.Helper()
	before := runtime.NumGoroutine()
	if cfg.Name == "" {
		cfg.Name = "main"
	}
	if cfg.Address == "" {
		cfg.Address = "srt://127.0.0.1:0?latency=20"
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r := &rig{t: t, ctx: ctx, log: &logText{}}
	var err error
	r.port, err = access.NewPort(cfg, slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.port.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		r.port.Close()
		r.soon("goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	})
	return r
}

func (r *rig) addr() string { return r.port.Snapshot().Address }

// soon waits for a condition that other goroutines bring about.
func (r *rig) soon(what string, cond func() bool) {
	r.t.Helper()
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for end := time.Now().Add(patience); !cond(); <-t.C {
		if time.Now().After(end) {
			r.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (r *rig) publish(stream, passphrase string) endpoint.SourceEnd {
	r.t.Helper()
	e, err := r.port.Publish(config.Ref{Stream: stream, Passphrase: config.Secret(passphrase)})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { e.Close() })
	return e
}

func (r *rig) play(stream, passphrase string) endpoint.SinkEnd {
	r.t.Helper()
	e, err := r.port.Play(config.Ref{Stream: stream, Passphrase: config.Secret(passphrase)})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { e.Close() })
	return e
}

// call calls the port with a stream id.
func (r *rig) call(id, passphrase string) (*srtcore.Conn, error) {
	return r.callFrom("", id, passphrase)
}

func (r *rig) callFrom(local, id, passphrase string) (*srtcore.Conn, error) {
	cfg := srtcore.DefaultConfig()
	cfg.StreamID, cfg.Passphrase, cfg.LocalAddr = id, passphrase, local
	cfg.RcvLatency, cfg.ConnTimeout = 20*time.Millisecond, patience/2
	c, err := srtcore.Dial(r.ctx, r.addr(), &cfg)
	if err == nil {
		r.t.Cleanup(func() { _ = c.Abort() })
	}
	return c, err
}

func (r *rig) mustCall(id, passphrase string) *srtcore.Conn {
	r.t.Helper()
	c, err := r.call(id, passphrase)
	if err != nil {
		r.t.Fatalf("%s: %v", id, err)
	}
	return c
}

// wantRefused wants a refusal with the code, counted under the reason.
func (r *rig) wantRefused(id, passphrase string, code srtcore.RejectReason, reason string) {
	r.t.Helper()
	before := r.port.Snapshot().Refused[reason]
	_, err := r.call(id, passphrase)
	rej, ok := errors.AsType[*srtcore.RejectError](err)
	if !ok || rej.Reason != code || !rej.Remote {
		r.t.Errorf("%q: %v, want a refusal with code %d", id, err, code)
		return
	}
	r.soon("the count of "+reason, func() bool { return r.port.Snapshot().Refused[reason] == before+1 })
}

func (r *rig) openSource(e endpoint.SourceEnd) endpoint.Source {
	r.t.Helper()
	s, err := e.OpenSource(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	return s
}

func (r *rig) openSink(e endpoint.SinkEnd) endpoint.Sink {
	r.t.Helper()
	s, err := e.OpenSink(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(s.Abort)
	return s
}

// message is the i-th of a stream; it is as long as live media's are.
func message(i int) []byte {
	b := make([]byte, 1316)
	binary.BigEndian.PutUint32(b, uint32(i))
	for j := 4; j < len(b); j++ {
		b[j] = byte(i*31 + j*7)
	}
	return b
}

// indexOf returns which message b is.
func indexOf(b []byte) (int, error) {
	if len(b) != 1316 {
		return 0, fmt.Errorf("message of %d bytes", len(b))
	}
	i := int(binary.BigEndian.Uint32(b))
	if string(b) != string(message(i)) {
		return 0, fmt.Errorf("message %d is altered", i)
	}
	return i, nil
}

// readAll reads a source to its end and returns the indexes it had.
func readAll(s endpoint.Source) (got []int, err error) {
	msgs := make([][]byte, 64)
	for {
		n, err := s.ReadBatch(msgs)
		for _, m := range msgs[:n] {
			i, bad := indexOf(m)
			if bad != nil {
				return got, bad
			}
			got = append(got, i)
		}
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
	}
}

func wantRun(t *testing.T, got []int, first, n int) {
	t.Helper()
	if len(got) != n {
		t.Fatalf("%d messages, want %d", len(got), n)
	}
	for k, i := range got {
		if i != first+k {
			t.Fatalf("message %d at place %d, want %d", i, k, first+k)
		}
	}
}
