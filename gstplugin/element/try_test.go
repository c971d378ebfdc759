package element_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

// take takes n packets from c, which Readable has returned.
func (s *source) take(t *testing.T, c *srtcore.Conn, n int) {
	t.Helper()
	var ps [16]element.Packet
	got := 0
	wantSoon(t, "packets to take", func() bool {
		k, err := s.Take(c, ps[:min(len(ps), n-got)])
		if err != nil {
			t.Fatalf("Take: %v after %d of %d", err, got, n)
		}
		for i := range ps[:k] {
			if string(ps[i].Payload) != string(message(got)) || ps[i].Discont != (got == 0) {
				t.Errorf("packet %d: %d bytes, Discont %v", got, len(ps[i].Payload), ps[i].Discont)
			}
			got++
		}
		s.Release(ps[:k])
		return got == n
	})
}

func TestTakeAndTryWriteDoNotWait(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "")), newSink(t, callerURI(port, ""))
	var changes atomic.Int32
	src.OnChange(func() { changes.Add(1) })
	if most, _ := snk.Writable(); src.Readable() != nil || most != 0 || snk.TryWrite(messages(0, 1), time.Time{}) != 0 {
		t.Error("stopped elements can be used")
	}
	start(t, src)
	start(t, snk)
	var c *srtcore.Conn
	wantSoon(t, "a connection", func() bool { c = src.Readable(); return c != nil })
	if changes.Load() == 0 {
		t.Error("the connection was no change")
	}
	wantSoon(t, "a connection", func() bool { _, latency := snk.Writable(); return latency == 20*time.Millisecond || greet(snk) })
	if most, _ := snk.Writable(); most != 1316 {
		t.Errorf("Writable = %d", most)
	}
	if n, err := src.Take(c, make([]element.Packet, 1)); n != 0 || err != nil {
		t.Errorf("Take of nothing = %d, %v", n, err)
	}
	if n := snk.TryWrite(messages(0, 40), time.Now()); n != 40 {
		t.Errorf("TryWrite took %d", n)
	}
	src.take(t, c, 40)
	if a, b := src.Stats().Total, snk.Stats().Total; a != 40*1316 || b != 40*1316 {
		t.Errorf("totals %d, %d", a, b)
	}
	src.Unlock()
	snk.Unlock()
	if most, _ := snk.Writable(); src.Readable() != nil || most != 0 {
		t.Error("unlocked elements need not be asked")
	}
	src.UnlockStop()
	snk.UnlockStop()
	before := changes.Load()
	stop(t, snk)
	wantSoon(t, "the end", func() bool { _, err := src.Take(c, make([]element.Packet, 1)); return err != nil })
	src.wantStatus(t, element.EOS)
	if changes.Load() == before {
		t.Error("the end was no change")
	}
}

// greet makes a connected sink send its headers, of which there are none.
func greet(snk *sink) bool {
	_, st := snk.Write(nil, time.Time{})
	return st != element.OK
}

func TestTryWriteToSeveralCallers(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	snk := newSink(t, listenerURI(port, ""))
	snk.SetHeaders([][]byte{[]byte("head")})
	start(t, snk)
	var srcs []*source
	for i := range 2 {
		srcs = append(srcs, newSource(t, callerURI(port, "")))
		start(t, srcs[i])
		snk.want(t, "added", i+1)
		if most, _ := snk.Writable(); most != 0 {
			t.Error("a newcomer has not had the headers")
		}
		// Whoever comes while others are served gets the headers first.
		if n := snk.TryWrite(messages(i, i+1), time.Now()); n != 1 {
			t.Errorf("TryWrite took %d", n)
		}
		if most, _ := snk.Writable(); most != 1316 {
			t.Errorf("Writable = %d", most)
		}
	}
	for i, src := range srcs {
		ps := src.read(t, 2)
		if string(ps[0].Payload) != "head" || string(ps[1].Payload) != string(message(i)) {
			t.Errorf("caller %d got %d and %d bytes", i, len(ps[0].Payload), len(ps[1].Payload))
		}
	}
}
