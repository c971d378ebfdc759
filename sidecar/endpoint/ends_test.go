package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

func mustSource(t *testing.T, raw string) SourceEnd {
	t.Helper()
	e, err := ParseSource(raw)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func mustSink(t *testing.T, raw string) SinkEnd {
	t.Helper()
	e, err := ParseSink(raw)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// carry writes want into a session of out and returns what in's session gets.
// first is which end opens first: the one that listens.
func carry(t *testing.T, in SourceEnd, out SinkEnd, want []byte) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, e := range []End{in, out} {
		if b, ok := e.(Binder); ok {
			if err := b.Listen(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	failed := make(chan error, 1)
	go func() { failed <- send(ctx, out, want) }()
	src, err := in.OpenSource(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	got, err := readAll(t, src)
	if !errors.Is(err, io.EOF) {
		t.Errorf("source ended with %v", err)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	return got
}

func send(ctx context.Context, out SinkEnd, b []byte) error {
	sink, err := out.OpenSink(ctx)
	if err != nil {
		return err
	}
	var msgs [][]byte
	for len(b) > 0 {
		n := min(len(b), MessageSize)
		msgs = append(msgs, b[:n])
		b = b[n:]
	}
	if err := sink.WriteBatch(msgs); err != nil {
		return err
	}
	return sink.Close()
}

func TestCarry(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "s")
	for _, c := range []struct{ name, in, out string }{
		{"unix, source listens", "unix:" + sock + "1", "unix:" + sock + "1"},
		{"unix, destination listens", "unix:" + sock + "2?listen=0", "unix:" + sock + "2?listen=1"},
		{"srt, source listens", "srt://127.0.0.1:%d?mode=listener&latency=20", "srt://127.0.0.1:%d?latency=20"},
		{"srt, destination listens", "srt://127.0.0.1:%d?latency=20", "srt://127.0.0.1:%d?mode=listener&latency=20"},
		{"srt, encrypted, small payload", "srt://127.0.0.1:%d?mode=listener&latency=20&passphrase=0123456789",
			"srt://127.0.0.1:%d?latency=20&passphrase=0123456789&payloadsize=400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.in[0] == 's' {
				port := port.Free(t)
				c.in, c.out = fmt.Sprintf(c.in, port), fmt.Sprintf(c.out, port)
			}
			want := media(300)
			got := carry(t, mustSource(t, c.in), mustSink(t, c.out), want)
			if !bytes.Equal(got, want) {
				t.Errorf("%d of %d bytes, or altered", len(got), len(want))
			}
		})
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b.ts")
	want := media(100)
	if err := send(t.Context(), mustSink(t, "file://"+path), want); err != nil {
		t.Fatal(err)
	}
	src, err := mustSource(t, "file://"+path).OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(t, src); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestUDPKeepsDatagramsAndCutsLongOnes(t *testing.T) {
	port := port.Free(t)
	src, err := mustSource(t, fmt.Sprintf("udp://127.0.0.1:%d", port)).OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	sink, err := mustSink(t, fmt.Sprintf("udp://127.0.0.1:%d?pkt_size=60000", port)).OpenSink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Abort()
	if err := sink.WriteBatch([][]byte{media(2), media(15)}); err != nil {
		t.Fatal(err)
	}
	msgs := make([][]byte, 2)
	var got []int
	for len(got) < 4 {
		n, err := src.ReadBatch(msgs)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range msgs[:n] {
			got = append(got, len(m)/188)
		}
	}
	if fmt.Sprint(got) != "[2 7 7 1]" {
		t.Errorf("packets a message: %v", got)
	}
}

func TestUDPSinkWithoutAListenerGoesOn(t *testing.T) {
	sink, err := mustSink(t, fmt.Sprintf("udp://127.0.0.1:%d", port.Free(t))).OpenSink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	for range 5 {
		if err := sink.WriteBatch([][]byte{media(7)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStaleSocketIsReplacedAndALiveOneIsNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	e := mustSource(t, "unix:"+path).(*streamEnd)
	if err := e.Listen(t.Context()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("beside a live listener: %v", err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	if err := e.Listen(t.Context()); err != nil {
		t.Fatalf("over a stale socket: %v", err)
	}
	if err := os.WriteFile(path+".txt", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mustSource(t, "unix:"+path+".txt").(*streamEnd).Listen(t.Context()); err == nil {
		t.Error("an ordinary file was replaced")
	}
}

func TestOpenEndsWithContext(t *testing.T) {
	for _, raw := range []string{
		"unix:" + filepath.Join(t.TempDir(), "s"),
		fmt.Sprintf("srt://127.0.0.1:%d?mode=listener", port.Free(t)),
		fmt.Sprintf("srt://127.0.0.1:%d", port.Free(t)),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begun := time.Now()
		if _, err := mustSource(t, raw).OpenSource(ctx); err == nil {
			t.Errorf("%s: opened", raw)
		}
		if d := time.Since(begun); d > 2*time.Second {
			t.Errorf("%s: took %v", raw, d)
		}
		cancel()
	}
}

func TestListenTimeout(t *testing.T) {
	e := mustSource(t, fmt.Sprintf("srt://127.0.0.1:%d?mode=listener&listen_timeout=50", port.Free(t)))
	if _, err := e.OpenSource(t.Context()); !errors.Is(err, ErrNoCaller) {
		t.Errorf("got %v", err)
	}
}

func TestJudge(t *testing.T) {
	rej := func(r srtcore.RejectReason) error {
		return fmt.Errorf("dial: %w", &srtcore.RejectError{Reason: r, Remote: true})
	}
	for _, c := range []struct {
		err   error
		kind  Kind
		final bool
	}{
		{rej(srtcore.RejBadSecret), Refused, true},
		{rej(srtcore.RejUnsecure), Refused, true},
		{rej(srtcore.RejUnauthorized), Refused, true},
		{rej(srtcore.RejForbidden), Refused, true},
		{rej(srtcore.RejPeer), Refused, false},
		{rej(srtcore.RejPredefined), Refused, false},
		{rej(srtcore.RejBacklog), Refused, false},
		{rej(srtcore.RejConflict), Refused, false},
		{rej(srtcore.RejNotFound), NotFound, false},
		{rej(srtcore.RejUser + 7), Refused, false},
		{srtcore.ErrConnTimeout, Timeout, false},
		{ErrNoCaller, Timeout, true},
		{context.DeadlineExceeded, Timeout, false},
		{&net.DNSError{IsNotFound: true}, NotFound, false},
		{&net.OpError{Err: syscall.EADDRINUSE}, Busy, true},
		{syscall.EHOSTUNREACH, Timeout, false},
		{&net.DNSError{IsTemporary: true}, Timeout, false},
		{&net.OpError{Err: syscall.ECONNREFUSED}, Refused, false},
		{&net.OpError{Err: syscall.ENOENT}, NotFound, false},
		{&net.OpError{Err: syscall.ECONNRESET}, Lost, false},
		{syscall.EPIPE, Lost, false},
		{errGaveWay, Lost, false},
		{errReplaced, Lost, false},
		{syscall.EMSGSIZE, Other, false},
		{syscall.EMFILE, Full, false},
		{syscall.EADDRNOTAVAIL, Other, true},
		{&InterfaceError{"x"}, NotFound, false},
		{fileError("write", "/a", &os.PathError{Err: syscall.EDQUOT}), Full, false},
		{fileError("write", "/a", syscall.EROFS), Other, true},
		{fileError("read", "/a", syscall.EIO), Other, false},
		{&StatusError{302}, Refused, true},
		{&StatusError{600}, Other, false},
		{os.ErrPermission, Other, true},
		{io.ErrUnexpectedEOF, Lost, false},
		{errors.New("something"), Other, false},
	} {
		if f := Judge(c.err); f.Kind != c.kind || f.Final != c.final {
			t.Errorf("%v: %+v, want kind %d, final %v", c.err, f, c.kind, c.final)
		} else if _, said := errors.AsType[*srtcore.RejectError](c.err); !said && f.Advice == "" {
			t.Errorf("%v: no advice", c.err)
		}
	}
}
