//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

// TestUpgrade changes the process under a running encoder and under callers that
// keep coming: the encoder's request is served to its end, and no caller is
// refused.
func TestUpgrade(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	file := filepath.Join(t.TempDir(), "weirline.yaml")
	srtAddr, httpAddr := port.Addr(t), port.Addr(t)
	text := fmt.Sprintf("listen: %s\ncontrol: { listen: 'unix:%s' }\nlisteners: [ { name: main, address: 'srt://%s?mode=listener' } ]\n"+
		"routes: [ { name: a, sources: [ { publish: { listener: main, stream: a } } ], outputs: [ { play: { listener: main, stream: a } } ] } ]\n",
		httpAddr, filepath.Join(t.TempDir(), "control"), srtAddr)
	old := startDaemon(t, ctx, file, text)
	enc := startEncoder(t, ctx, httpAddr)
	stop, called := make(chan struct{}), make(chan int, 1)
	go func() { called <- callAgainAndAgain(t, ctx, srtAddr, stop) }()

	next := upgrade(t, old)
	if old.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("the old process left its encoder")
	}
	close(stop)
	if n := <-called; n == 0 {
		t.Error("no caller came meanwhile")
	}
	enc.finish(t)
	if err := old.Wait(); err != nil {
		t.Errorf("the old process ended with %v", err)
	}
	if old.pid() != next {
		t.Error("the new process is gone")
	}
	syscall.Kill(next, syscall.SIGTERM)
	until(t, "the new process to end", func() bool { return old.pid() == 0 })
}

// callAgainAndAgain dials the port until told to stop and returns how often.
func callAgainAndAgain(t *testing.T, ctx context.Context, addr string, stop chan struct{}) (n int) {
	cfg := srtcore.DefaultConfig()
	cfg.StreamID = "#!::r=a,m=request"
	for {
		select {
		case <-stop:
			return n
		default:
		}
		c, err := srtcore.Dial(ctx, addr, &cfg)
		if err != nil {
			t.Errorf("caller %d: %v", n, err)
			return n
		}
		c.Abort()
		n++
	}
}

// encoder posts messages while everything else goes on.
type encoder struct {
	body *io.PipeWriter
	sent [][]byte
	rsp  chan error
	recv *srtcore.Conn
}

func startEncoder(t *testing.T, ctx context.Context, httpAddr string) *encoder {
	t.Helper()
	ln, err := srtcore.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	r, w := io.Pipe()
	e := &encoder{body: w, rsp: make(chan error, 1)}
	go func() {
		rsp, err := http.Post("http://"+httpAddr+"/srt://"+ln.Addr().String(), "video/mp2t", r)
		if err == nil {
			rsp.Body.Close()
			if rsp.StatusCode != http.StatusOK {
				err = fmt.Errorf("the reply is %s", rsp.Status)
			}
		}
		e.rsp <- err
	}()
	e.write(t, 1)
	if e.recv, err = ln.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.recv.Abort() })
	return e
}

func (e *encoder) write(t *testing.T, n int) {
	t.Helper()
	for range n {
		m := bytes.Repeat([]byte{byte(len(e.sent))}, 1316)
		for i := 0; i < len(m); i += 188 {
			m[i] = 0x47
		}
		e.sent = append(e.sent, m)
		if _, err := e.body.Write(m); err != nil {
			t.Fatal(err)
		}
	}
}

// finish sends more, ends the body, and compares what came.
func (e *encoder) finish(t *testing.T) {
	t.Helper()
	e.write(t, 100)
	e.body.Close()
	e.recv.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, 2000)
	for i, want := range e.sent {
		n, err := e.recv.Read(got)
		if err != nil || !bytes.Equal(got[:n], want) {
			t.Fatalf("message %d: %d bytes, %v", i, n, err)
		}
	}
	if err := <-e.rsp; err != nil {
		t.Errorf("the encoder: %v", err)
	}
}
