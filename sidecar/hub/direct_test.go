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
	r.Direct(func(msgs [][]byte, _ time.Time) (n int) {
		for ; n < len(msgs); n++ {
			if asked++; asked%refuse == 0 {
				break
			}
			p := Payload{b: msgs[n]}
			got = append(got, number(&p))
		}
		return n
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

// publish offers batches first, as a route does.
func publish(h *Hub, msgs [][]byte) {
	for len(msgs) > 0 {
		if n := h.Offer(msgs, epoch); n > 0 {
			msgs = msgs[n:]
			continue
		}
		h.Publish(msgs[0], epoch)
		msgs = msgs[1:]
	}
}

func TestOfferedBatchesKeepTheirOrder(t *testing.T) {
	const n, batch = 5000, 20
	for _, refuse := range []int{1, 7, 1 << 30} {
		h := New()
		done := make(chan []int)
		r := h.Join(1<<20, nil)
		go consume(t.Context(), r, refuse, done)
		for i := 0; i < n; i += batch {
			var msgs [][]byte
			for k := range batch {
				msgs = append(msgs, msg(i+k))
			}
			publish(h, msgs)
		}
		h.End()
		wantRun(t, <-done, 0, n-1)
		if s := r.Stats(); s.Read != n || s.Dropped != 0 {
			t.Errorf("refusing every %dth: %+v", refuse, s)
		}
		if s := h.Stats(); s.Messages != n || s.Bytes != 8*n || s.Unheard != 0 {
			t.Errorf("refusing every %dth: %+v", refuse, s)
		}
	}
}

func TestOnlyALoneReaderIsOffered(t *testing.T) {
	h := New()
	msgs := [][]byte{msg(0)}
	if n := h.Offer(msgs, epoch); n != 0 {
		t.Errorf("nobody took %d", n)
	}
	for range 2 {
		h.Join(1<<20, nil).Direct(func(m [][]byte, _ time.Time) int { t.Error("asked"); return len(m) })
	}
	if n := h.Offer(msgs, epoch); n != 0 {
		t.Errorf("two took %d", n)
	}
}

func TestDirectIsNotAskedBeforeNextWaits(t *testing.T) {
	h := New()
	r := h.Join(1<<20, nil)
	r.Direct(func(m [][]byte, _ time.Time) int { t.Error("asked"); return len(m) })
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
