package daemon

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

const patience = 20 * time.Second

// rig is a daemon with a configuration file, on loopback.
type rig struct {
	*Daemon
	t    *testing.T
	ctx  context.Context
	file string
	port int // of the listener main
}

func newRig(t *testing.T, yaml string) *rig {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	r := &rig{t: t, ctx: ctx, file: filepath.Join(t.TempDir(), "weirline.yaml"), port: port.Free(t)}
	r.write(yaml)
	cfg, err := config.Load(r.file, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Daemon = New(Options{
		Config: cfg, Path: r.file, Restart: 50 * time.Millisecond,
		Load: func(path string) (*config.Config, error) { return config.Load(path, nil) },
	})
	if err := r.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Stop()
		cancel()
		r.eventually("goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines+3 }) // the shared runtime's
	})
	return r
}

// write puts the listener main in front of the routes.
func (r *rig) write(routes string) {
	r.t.Helper()
	text := fmt.Sprintf("listeners:\n  - { name: main, address: 'srt://127.0.0.1:%d?mode=listener&latency=120' }\n%s", r.port, routes)
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	for until := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			r.t.Fatalf("waited in vain for %s; routes: %+v", what, r.Routes())
		}
	}
}

func (r *rig) address() string { return fmt.Sprintf("127.0.0.1:%d", r.port) }

func (r *rig) call(streamID string) *srtcore.Conn {
	r.t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.StreamID = streamID
	c, err := srtcore.Dial(r.ctx, r.address(), &cfg)
	if err != nil {
		r.t.Fatalf("%s: %v", streamID, err)
	}
	r.t.Cleanup(func() { c.Abort() })
	return c
}

func (r *rig) publish(stream string) *srtcore.Conn { return r.call("#!::r=" + stream + ",m=publish") }
func (r *rig) play(stream string) *srtcore.Conn    { return r.call("#!::r=" + stream + ",m=request") }

// message is number i of a stream, whose content both follow from.
func message(stream byte, i int) []byte {
	b := make([]byte, 1316)
	for j := 0; j < len(b); j += 188 {
		b[j], b[j+1], b[j+2], b[j+3] = 0x47, 0x01, stream, 0x10
	}
	b[1], b[2] = 0x40, 0 // a program association table: players may begin with each
	binary.BigEndian.PutUint32(b[4:], uint32(i))
	return b
}

// wantStream reads messages first..last-1 of a stream, in order, and nothing else.
func (r *rig) wantStream(c *srtcore.Conn, stream byte, first, last int) {
	r.t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, 2000)
	for i := first; i < last; i++ {
		n, err := c.Read(got)
		if err != nil || !bytes.Equal(got[:n], message(stream, i)) {
			r.t.Fatalf("stream %c: message %d: %d bytes, %v", stream, i, n, err)
		}
	}
}

// feed sends messages first..last-1 at some pace.
func (r *rig) feed(c *srtcore.Conn, stream byte, first, last int) {
	r.t.Helper()
	for i := first; i < last; i++ {
		if _, err := c.Write(message(stream, i)); err != nil {
			r.t.Errorf("stream %c: message %d: %v", stream, i, err)
			return
		}
		time.Sleep(500 * time.Microsecond)
	}
}

// up waits until a route's output has n sessions.
func (r *rig) up(route string, n int) {
	r.t.Helper()
	r.eventually(fmt.Sprintf("%d players of %s", n, route), func() bool {
		for _, s := range r.Routes() {
			if s.Name == route && len(s.Outputs) > 0 {
				return len(s.Outputs[0].Sessions) == n
			}
		}
		return false
	})
}
