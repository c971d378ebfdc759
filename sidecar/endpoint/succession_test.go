package endpoint

import (
	"errors"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

// callFrom calls to from a local address.
func callFrom(t *testing.T, local, to string) *srtcore.Conn {
	t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.LocalAddr = local
	c, err := srtcore.Dial(t.Context(), to, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Abort() })
	return c
}

// listeningSource is a source whose first caller has come from local.
func listeningSource(t *testing.T, local string) (*SRT, *srtcore.Conn, Source) {
	t.Helper()
	e, err := ParseSRT("srt://" + port.Addr(t) + "?mode=listener&latency=20")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if err := e.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := callFrom(t, local, e.Addr())
	src, err := e.OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return e, first, src
}

// A silent caller gives way to one from its own address.
func TestSilentCallerIsReplaced(t *testing.T) {
	local := port.Addr(t)
	e, _, src := listeningSource(t, local)
	second := callFrom(t, local, e.Addr())
	msgs := make([][]byte, 8)
	if n, err := src.ReadBatch(msgs); n != 0 || !errors.Is(err, errReplaced) {
		t.Fatalf("ReadBatch = %d, %v", n, err)
	}
	src.Close()
	next, err := e.OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if _, err := second.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if n, err := next.ReadBatch(msgs); n != 1 || err != nil || string(msgs[0]) != "new" {
		t.Errorf("ReadBatch = %d, %v", n, err)
	}
}

// Callers that share a port may both live: the second waits for the first.
func TestLivingCallerIsNotReplaced(t *testing.T) {
	local := port.Addr(t)
	e, first, src := listeningSource(t, local)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	msgs := make([][]byte, 8)
	for i := range 2 * int(silence/(10*time.Millisecond)) {
		if i == 10 {
			callFrom(t, local, e.Addr())
		}
		<-tick.C
		if _, err := first.Write([]byte("alive")); err != nil {
			t.Fatal(err)
		}
		if n, err := src.ReadBatch(msgs); n == 0 || err != nil {
			t.Fatalf("message %d: ReadBatch = %d, %v", i, n, err)
		}
	}
	_ = first.Abort()
	src.Close()
	next, err := e.OpenSource(t.Context()) // the one that waits
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
}
