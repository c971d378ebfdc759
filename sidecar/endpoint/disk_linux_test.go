package endpoint_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
)

// TestFullDisk runs a route whose file may not grow any more, then may, in a
// process of its own: the limit is the process's.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv("WEIRLINE_TEST_FULL_DISK"); dir != "" {
		fullDisk(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "WEIRLINE_TEST_FULL_DISK="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// limitFiles bounds the length of files in messages and half a one.
func limitFiles(t *testing.T, messages uint64) {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
		t.Fatal(err)
	}
	l.Cur = min(messages*endpoint.MessageSize+endpoint.MessageSize/2, l.Max)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &l); err != nil {
		t.Fatal(err)
	}
}

func numbered(i uint64) []byte {
	m := bytes.Repeat([]byte{0x47}, endpoint.MessageSize)
	binary.BigEndian.PutUint64(m[8:], i)
	return m
}

// numbersOf returns the numbers of whole messages.
func numbersOf(t *testing.T, what string, b []byte) (out []uint64) {
	t.Helper()
	if len(b)%endpoint.MessageSize != 0 {
		t.Fatalf("%s: %d bytes are no whole messages", what, len(b))
	}
	for ; len(b) > 0; b = b[endpoint.MessageSize:] {
		i := binary.BigEndian.Uint64(b[8:])
		if !bytes.Equal(b[:endpoint.MessageSize], numbered(i)) {
			t.Fatalf("%s: a message is altered", what)
		}
		out = append(out, i)
	}
	return out
}

func fullDisk(t *testing.T, dir string) {
	file, in, out := filepath.Join(dir, "rec.ts"), filepath.Join(dir, "in"), filepath.Join(dir, "out")
	limitFiles(t, 100)
	src, err := endpoint.ParseSource("unix:" + in)
	if err != nil {
		t.Fatal(err)
	}
	var sinks []endpoint.SinkEnd
	for _, raw := range []string{"file://" + file, "unix:" + out + "?listen=1"} {
		e, err := endpoint.ParseSink(raw)
		if err != nil {
			t.Fatal(err)
		}
		sinks = append(sinks, e)
	}
	var log bytes.Buffer
	rt := route.New(route.Config{Source: src, Outputs: sinks, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- rt.Run(ctx) }()

	others := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(call(t, out))
		others <- b
	}()
	sent := write(t, rt, call(t, in), file)
	until(t, "all is delivered", func() bool {
		s := rt.Snapshot()
		return s.Outputs[1].Queue.Read == sent && s.Outputs[0].Queue.Queued == 0 && fileHas(t, file, sent-1)
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	other := numbersOf(t, "the other output", <-others)
	if uint64(len(other)) != sent || other[sent-1] != sent-1 {
		t.Errorf("the other output has %d of %d messages", len(other), sent)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := numbersOf(t, "the file", b)
	for i, n := range got[1:] {
		if n <= got[i] {
			t.Fatalf("message %d follows %d", n, got[i])
		}
	}
	if n := len(got); n < 150 || got[n-1] != sent-1 || uint64(n) == sent {
		t.Errorf("the file has %d of %d messages and ends with %d", n, sent, got[n-1])
	}
	if text := log.String(); !strings.Contains(text, "write file "+file+": file too large") {
		t.Errorf("the log does not say what happened:\n%s", text)
	}
}

// write sends messages until the file is full, makes room, and goes on until the
// file has some of them.
func write(t *testing.T, rt *route.Route, to net.Conn, file string) (sent uint64) {
	t.Helper()
	until(t, "the other output has its reader", func() bool { return len(rt.Snapshot().Outputs[1].Sessions) == 1 })
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	defer to.Close()
	full := uint64(0)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); sent++ {
		<-tick.C
		if _, err := to.Write(numbered(sent)); err != nil {
			t.Fatal(err)
		}
		switch {
		case full == 0 && strings.Contains(rt.Snapshot().Outputs[0].Error, "too large"):
			full = sent
			limitFiles(t, 1<<30)
		case full > 0 && sent%50 == 0 && fileHas(t, file, full+1):
			return sent + 1
		}
	}
	t.Fatal("the file is not written any more")
	return 0
}

// fileHas reports whether the file's last message is at least that one.
func fileHas(t *testing.T, path string, n uint64) bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || len(b) < endpoint.MessageSize {
		return false
	}
	last := b[len(b)/endpoint.MessageSize*endpoint.MessageSize-endpoint.MessageSize:]
	return binary.BigEndian.Uint64(last[8:]) >= n
}

func call(t *testing.T, path string) (c net.Conn) {
	until(t, "somebody listens at "+path, func() (ok bool) {
		var err error
		c, err = net.Dial("unix", path)
		return err == nil
	})
	return c
}

func until(t *testing.T, what string, ok func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Error("not in time: " + what)
			return
		}
	}
}
