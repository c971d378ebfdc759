package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
)

// successor is an end of the same address that has the listening socket of e, as a
// process that follows would.
func successor(t *testing.T, e *streamEnd, next *streamEnd) *streamEnd {
	t.Helper()
	files, err := e.Files()
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	ln, err := net.FileListener(files[0])
	files[0].Close()
	if err != nil {
		t.Fatal(err)
	}
	next.Inherit(func(network, addr string) net.Listener {
		if network != e.network || addr != e.addr {
			t.Errorf("asked for %s %s", network, addr)
		}
		return ln
	})
	e.Retire()
	t.Cleanup(func() { next.Close() })
	return next
}

// A source hands its socket over: who calls in between is read by the successor, and
// who is being read, by the one before to his end.
func TestSourceHandsItsSocketOver(t *testing.T) {
	for network, raw := range streamSources(t) {
		t.Run(network, func(t *testing.T) {
			old := listening(t, raw)
			defer old.Close()
			first := connect(t, old, media(2))
			src := openSource(t, old)
			next := successor(t, old, mustSource(t, raw).(*streamEnd))
			between := connect(t, old, media(5)) // nobody accepts just now
			between.Close()
			if err := next.Listen(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := readAll(t, openSource(t, next)); !errors.Is(err, io.EOF) || !bytes.Equal(got, media(5)) {
				t.Errorf("the successor got %d bytes, %v", len(got), err)
			}
			first.Close()
			if got, err := readAll(t, src); !errors.Is(err, io.EOF) || !bytes.Equal(got, media(2)) {
				t.Errorf("the one before got %d bytes, %v", len(got), err)
			}
			old.Close()
			connect(t, next, nil) // a unix socket's name is still there
		})
	}
}

func TestOutputHandsItsSocketOver(t *testing.T) {
	for network, raw := range streamSources(t) {
		t.Run(network, func(t *testing.T) {
			raw += "?listen=1"
			old := mustSink(t, raw).(*streamEnd)
			if err := old.Listen(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer old.Close()
			waiting := make(chan error)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				_, err := old.OpenSink(ctx)
				waiting <- err
			}()
			next := successor(t, old, mustSink(t, raw).(*streamEnd))
			c := connect(t, old, nil)
			if err := send(t.Context(), next, media(3)); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, media(3)) {
				t.Errorf("the reader got %d bytes, %v", len(got), err)
			}
			cancel()
			if err := <-waiting; !errors.Is(err, context.Canceled) {
				t.Errorf("the one before ends with %v", err)
			}
		})
	}
}
