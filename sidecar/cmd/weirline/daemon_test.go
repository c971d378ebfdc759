//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/control/client"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/tests/proctest"
)

const patience = 30 * time.Second

// process is `weirline serve` as users run it.
type process struct {
	*exec.Cmd
	t    *testing.T
	ctx  context.Context
	cfg  *config.Config
	file string
}

// startDaemon runs the program with this configuration until the test ends.
func startDaemon(t *testing.T, ctx context.Context, file, text string) *process {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{exec.CommandContext(ctx, os.Args[0], "serve", "--config", file), t, ctx, cfg, file}
	// A file, since both processes of an upgrade write to it: Wait would wait for the
	// end of a pipe that the second one holds open.
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout, p.Stderr = log, log
	t.Cleanup(func() {
		log.Close()
		if said, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the daemon said:\n%s", said)
		}
	})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	until(t, "the daemon to serve", func() bool { return p.pid() == p.Process.Pid })
	return p
}

// status is what the process that answers for the configuration tells; zero: none
// does.
func (p *process) status() control.Status { s, _ := status(p.ctx, p.cfg); return s }

func (p *process) pid() int { return p.status().PID }

// route asks the API for a route.
func (p *process) route(name string) (s route.Snapshot) {
	p.t.Helper()
	c, err := client.New(p.cfg.Control.Listen, "")
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Do(p.ctx, "GET", "/v1/routes/"+name, nil, &s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// stop ends the process as systemd does.
func (p *process) stop() {
	p.t.Helper()
	p.Process.Signal(syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		p.t.Errorf("the daemon ended with %v", err)
	}
}

// upgrade has a daemon upgraded by the command and returns the new process.
func upgrade(t *testing.T, old *process) int {
	t.Helper()
	var out bytes.Buffer
	root := rootCommand()
	root.SetOut(&out)
	root.SetArgs([]string{"serve", "--upgrade", "--config", old.file})
	if err := root.ExecuteContext(old.ctx); err != nil || !strings.Contains(out.String(), "has taken over from") {
		t.Errorf("--upgrade: %v, %q", err, out.String())
	}
	next := old.pid()
	if next == 0 || next == old.Process.Pid {
		t.Fatalf("process %d answers after the upgrade of %d", next, old.Process.Pid)
	}
	t.Cleanup(func() { syscall.Kill(next, syscall.SIGKILL) })
	return next
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	proctest.Eventually(t, "waited in vain for "+what, ok)
}

// tablePacket is a packet that a player may begin with.
func tablePacket(n uint32) []byte {
	p := make([]byte, 188)
	p[0], p[1], p[3] = 0x47, 0x40, 0x10
	binary.BigEndian.PutUint32(p[4:], n)
	return p
}

// numbered is an endless stream of such packets.
type numbered struct{ n uint32 }

// check takes a stream of them apart: each is whole, and follows the one before, or
// with gaps allowed comes later. It returns the last number.
func (s *numbered) check(in io.Reader, packets int, gaps bool) (gone int, err error) {
	got := make([]byte, 188)
	for i := 0; packets < 0 || i < packets; i++ {
		if _, err := io.ReadFull(in, got); err == io.EOF && packets < 0 {
			return gone, nil
		} else if err != nil {
			return gone, fmt.Errorf("packet %d: %w", i, err)
		}
		n := binary.BigEndian.Uint32(got[4:])
		if !bytes.Equal(got, tablePacket(n)) || i > 0 && (n <= s.n || !gaps && n != s.n+1) {
			return gone, fmt.Errorf("packet %d has number %d after %d, or is altered", i, n, s.n)
		}
		if i > 0 {
			gone += int(n - s.n - 1)
		}
		s.n = n
	}
	return gone, nil
}
