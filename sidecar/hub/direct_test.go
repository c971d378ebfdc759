package hub

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// consume reads into got until the end; try shares got, and refuses every
// refuse-th message.
func consume(ctx context.Context, r *Reader, refuse int, done chan<- []int) {
	var got []int
	asked := 0
	r.Direct(func(m []byte, _ time.Time) bool {
		if asked++; asked%refuse == 0 {
			return false
		}
		p := Payload{b: m}
		got = append(got, number(&p))
		return true
	})
	var dst [4]*Payload
	for {
		n, err := r.Next(ctx, dst[:])
		if errors.Is(err, io.EOF) {
			break
		}
		for _, p := range dst[:n] {
			got = append(got, number(p))
			p.Release()
		}
	}
	r.Direct(nil)
	done <- got
}

func TestDirectAndQueuedMessagesKeepTheirOrder(t *testing.T) {
	const n = 5000
	h := New()
	done := make(chan []int)
	var readers []*Reader
	for _, refuse := range []int{1, 3, 1 << 30} {
		r := h.Join(1<<20, nil)
		readers = append(readers, r)
		go consume(t.Context(), r, refuse, done)
	}
	for i := range n {
		h.Publish(msg(i), epoch)
	}
	h.End()
	for range readers {
		wantRun(t, <-done, 0, n-1)
	}
	for _, r := range readers {
		if s := r.Stats(); s.Read != n || s.Dropped != 0 || s.Queued != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestDirectIsNotAskedBeforeNextWaits(t *testing.T) {
	h := New()
	r := h.Join(1<<20, nil)
	r.Direct(func([]byte, time.Time) bool { t.Error("asked"); return true })
	for i := range 3 {
		h.Publish(msg(i), epoch)
	}
	var dst [1]*Payload
	if n, err := r.Next(t.Context(), dst[:]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	h.Publish(msg(3), epoch) // the reader is busy with the first
	if s := r.Stats(); s.Queued != 3 {
		t.Errorf("%+v", s)
	}
	dst[0].Release()
}
