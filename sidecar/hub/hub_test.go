package hub

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"
	"time"
)

var epoch = time.Unix(1000, 0)

func msg(i int) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(i)) }

func number(p *Payload) int { return int(binary.BigEndian.Uint64(p.Bytes())) }

// take reads everything that is queued.
func take(t *testing.T, r *Reader) (got []int) {
	t.Helper()
	var dst [3]*Payload
	for r.Stats().Queued > 0 {
		n, err := r.Next(t.Context(), dst[:])
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range dst[:n] {
			got = append(got, number(p))
			p.Release()
		}
	}
	return got
}

func wantRun(t *testing.T, got []int, first, last int) {
	t.Helper()
	if len(got) != last-first+1 {
		t.Fatalf("got %d messages %v, want %d-%d", len(got), got, first, last)
	}
	for i, v := range got {
		if v != first+i {
			t.Fatalf("message %d is %d, want %d", i, v, first+i)
		}
	}
}

func TestEveryReaderGetsEverything(t *testing.T) {
	h := New()
	a, b := h.Join(1<<20, nil), h.Join(1<<20, nil)
	for i := range 100 {
		h.Publish(msg(i), epoch)
	}
	wantRun(t, take(t, a), 0, 99)
	wantRun(t, take(t, b), 0, 99)
}

func TestSlowReaderLosesItsOldestOnly(t *testing.T) {
	h := New()
	slow, fine := h.Join(10*8, nil), h.Join(1<<20, nil)
	for i := range 100 {
		h.Publish(msg(i), epoch)
	}
	if s := slow.Stats(); s.Dropped != 90 || s.DroppedBytes != 720 || s.Queued != 10 {
		t.Errorf("slow reader's counters: %+v", s)
	}
	wantRun(t, take(t, slow), 90, 99)
	wantRun(t, take(t, fine), 0, 99)
	if d := fine.Stats().Dropped; d != 0 {
		t.Errorf("the other reader lost %d", d)
	}
}

func TestOneMessageAlwaysFits(t *testing.T) {
	h := New()
	r := h.Join(0, nil)
	h.Publish(msg(1), epoch)
	h.Publish(msg(2), epoch)
	wantRun(t, take(t, r), 2, 2)
}

func TestJoinHearsOnlyWhatComesAfter(t *testing.T) {
	h := New()
	h.Publish(msg(0), epoch)
	r := h.Join(100, nil)
	h.Publish(msg(1), epoch)
	wantRun(t, take(t, r), 1, 1)
	if s := h.Stats(); s.Messages != 2 || s.Unheard != 1 {
		t.Errorf("hub's counters: %+v", s)
	}
}

func TestEndComesAfterTheRest(t *testing.T) {
	h := New()
	r := h.Join(100, nil)
	h.Publish(msg(0), epoch)
	h.End()
	h.Publish(msg(1), epoch)
	wantRun(t, take(t, r), 0, 0)
	if _, err := r.Next(t.Context(), make([]*Payload, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v, want EOF", err)
	}
	if _, err := h.Join(1, nil).Next(t.Context(), make([]*Payload, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("joined after the end: %v, want EOF", err)
	}
}

func TestLeavingDisturbsNobody(t *testing.T) {
	h := New()
	a, b := h.Join(1000, nil), h.Join(1000, nil)
	h.Publish(msg(0), epoch)
	a.Leave()
	a.Leave()
	h.Publish(msg(1), epoch)
	wantRun(t, take(t, b), 0, 1)
	if _, err := a.Next(t.Context(), make([]*Payload, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after leaving: %v, want EOF", err)
	}
}

func TestDropBefore(t *testing.T) {
	h := New()
	r := h.Join(1000, nil)
	for i := range 10 {
		h.Publish(msg(i), epoch.Add(time.Duration(i)*time.Second))
	}
	if n := r.DropBefore(epoch.Add(4 * time.Second)); n != 4 {
		t.Errorf("dropped %d, want 4", n)
	}
	wantRun(t, take(t, r), 4, 9)
}

func TestNextEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New().Join(1, nil).Next(ctx, make([]*Payload, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRoom(t *testing.T) {
	h, room := New(), make(chan struct{}, 1)
	r := h.Join(4*8, room)
	for i := range 4 {
		h.Publish(msg(i), epoch)
	}
	if !r.Full(8) || r.HasRoom() {
		t.Error("a full queue does not say so")
	}
	wantRun(t, take(t, r), 0, 3)
	<-room
	if r.Full(8) || !r.HasRoom() {
		t.Error("no room in an empty queue")
	}
	for i := range 4 {
		h.Publish(msg(i), epoch)
	}
	r.Leave()
	<-room
	if r.Full(8) || !r.HasRoom() {
		t.Error("a reader that left holds the source up")
	}
}

func TestWhatIsNotSentIsCounted(t *testing.T) {
	h := New()
	r := h.Join(1000, nil)
	for i := range 10 {
		h.Publish(msg(i), epoch)
	}
	var dst [3]*Payload
	n, err := r.Next(t.Context(), dst[:])
	if n != 3 || err != nil {
		t.Fatal(n, err)
	}
	r.Lost(dst[:n])
	if s := r.Stats(); s.Read != 0 || s.Dropped != 3 || s.DroppedBytes != 24 {
		t.Errorf("a batch was lost: %+v", s)
	}
	r.Leave()
	if s := r.Stats(); s.Dropped != 10 || s.Queued != 0 {
		t.Errorf("a queue was left: %+v", s)
	}
}

// TestSharedPayloadsStayWhole reads with many goroutines while payloads are
// recycled; a payload released too early would be overwritten under a reader.
func TestSharedPayloadsStayWhole(t *testing.T) {
	h := New()
	var wg sync.WaitGroup
	for i := range 8 {
		r := h.Join(50*512, nil)
		wg.Go(func() { readAll(t, r, i%2 == 1) })
	}
	for i := range 5000 {
		h.Publish(bytes.Repeat([]byte{byte(i)}, 512), epoch)
	}
	h.End()
	wg.Wait()
}

func readAll(t *testing.T, r *Reader, leaveEarly bool) {
	dst := make([]*Payload, 7)
	for {
		n, err := r.Next(context.Background(), dst)
		for _, p := range dst[:n] {
			b := p.Bytes()
			if len(b) != 512 || bytes.Count(b, b[:1]) != 512 {
				t.Errorf("payload overwritten")
			}
			p.Release()
		}
		if err != nil {
			return
		}
		if leaveEarly && r.Stats().Read > 100 {
			r.Leave()
			return
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	h := New()
	r := h.Join(1<<20, nil)
	dst, m := make([]*Payload, 8), make([]byte, 1316)
	n := testing.AllocsPerRun(1000, func() {
		h.Publish(m, epoch)
		k, _ := r.Next(t.Context(), dst)
		for _, p := range dst[:k] {
			p.Release()
		}
	})
	if n > 0.1 { // a garbage collection may empty the pool once
		t.Errorf("%v allocations a message", n)
	}
}
