package hub

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

// tens are the cut points of these tests.
func tens(b []byte) bool { return number(&Payload{b: b})%10 == 0 }

// at is the time of message i: a hundred a second.
func at(i int) time.Time { return epoch.Add(time.Duration(i) * 10 * time.Millisecond) }

func feed(h *Hub, first, last int) {
	for i := first; i <= last; i++ {
		h.Publish(msg(i), at(i))
	}
}

func TestAfterALossDeliveryGoesOnAtACutPoint(t *testing.T) {
	h := New()
	slow, fine := h.JoinWith(Options{Limit: 25 * 8, Cut: tens}), h.JoinWith(Options{Limit: 1 << 20, Cut: tens})
	feed(h, 1, 26)
	wantRun(t, take(t, slow), 10, 26)
	if s := slow.Stats(); s.Dropped != 9 || s.DroppedBytes != 9*8 || s.Read+uint64(slow.out) != 17 {
		t.Errorf("%+v", s)
	}
	feed(h, 27, 38)
	wantRun(t, take(t, slow), 27, 38) // no loss, no cut
	wantRun(t, take(t, fine), 1, 38)
}

func TestGapLastsBeyondTheQueue(t *testing.T) {
	h := New()
	r := h.JoinWith(Options{Limit: 5 * 8, Cut: tens, WithinBytes: 1 << 20})
	feed(h, 1, 9)
	if s := r.Stats(); s.Queued != 0 || s.Dropped != 9 {
		t.Errorf("%+v", s)
	}
	feed(h, 10, 12)
	wantRun(t, take(t, r), 10, 12)
}

func TestGapIsBounded(t *testing.T) {
	never := func([]byte) bool { return false }
	for name, c := range map[string]struct {
		o     Options
		first int // message that ends the gap; the first that might have is 2
	}{
		"by time":                     {Options{Cut: never, WithinBytes: 1 << 20}, 102},
		"by a time of one's own":      {Options{Cut: never, WithinBytes: 1 << 20, Within: time.Minute / 2}, 3002},
		"by bytes":                    {Options{Cut: never, WithinBytes: 50 * 8}, 52},
		"by as many as the queue has": {Options{Cut: never}, 12},
		"not: anything will do":       {Options{Cut: func([]byte) bool { return true }}, 2},
		"not: none is wanted":         {Options{}, 2},
	} {
		h := New()
		c.o.Limit = 10 * 8
		r := h.JoinWith(c.o)
		i := 0
		for i < 11 || r.Stats().Queued == 0 && i < 5000 {
			i++
			feed(h, i, i)
		}
		if got := take(t, r); len(got) == 0 || got[0] != c.first {
			t.Errorf("%s: goes on with %v after %d, want %d", name, got, i, c.first)
		}
	}
}

// atTens is Options.Begin: behind the first two bytes of a cut point.
func atTens(b []byte) int {
	if tens(b) {
		return 2
	}
	return -1
}

func TestWhoJoinsInTheMiddleBeginsWhereADecoderCan(t *testing.T) {
	h := New()
	first := h.JoinWith(Options{Limit: 1 << 20, Cut: tens, Begin: atTens})
	feed(h, 1, 4)
	begins := h.JoinWith(Options{Limit: 1 << 20, Cut: tens, Begin: atTens})
	atOnce := h.JoinWith(Options{Limit: 1 << 20, Cut: tens})
	begins.Direct(func([][]byte, time.Time) int { t.Error("asked inside the gap"); return 0 })
	feed(h, 5, 13)
	wantRun(t, take(t, first), 1, 13) // nothing was published before
	wantRun(t, take(t, atOnce), 5, 13)
	var dst [9]*Payload
	if n, err := begins.Next(t.Context(), dst[:]); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	for i, p := range dst[:4] {
		want := msg(10 + i)
		if i == 0 {
			want = want[2:]
		}
		if !bytes.Equal(p.Bytes(), want) || p.At() != at(10+i) {
			t.Errorf("message %d: %x at %v, want %x", i, p.Bytes(), p.At(), want)
		}
		p.Release()
	}
	if s := begins.Stats(); s.Dropped != 0 || s.Skipped != 5 || s.QueuedBytes != 0 {
		t.Errorf("what came before the join counts as lost: %+v", s)
	}
}

// Without a place to begin at the reader gets everything from some time on, whole.
func TestJoinIsBounded(t *testing.T) {
	h := New()
	feed(h, 1, 1)
	r := h.JoinWith(Options{Limit: 1 << 20, Begin: func([]byte) int { return -1 }})
	feed(h, 2, 110)
	wantRun(t, take(t, r), 102, 110)
}

func TestWhoWaitsToBeginHearsTheEnd(t *testing.T) {
	h := New()
	feed(h, 1, 1)
	r := h.JoinWith(Options{Limit: 1 << 20, Cut: tens, Begin: atTens})
	feed(h, 2, 3)
	h.End()
	if _, err := r.Next(t.Context(), make([]*Payload, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestStaleAndLostMessagesAreGaps(t *testing.T) {
	h := New()
	r := h.JoinWith(Options{Limit: 1 << 20, Cut: tens})
	feed(h, 1, 3500)
	if n := r.DropBefore(at(3405)); n != 3409 {
		t.Errorf("dropped %d", n)
	}
	var dst [3]*Payload
	if n, err := r.Next(t.Context(), dst[:]); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	r.Lost(dst[:])
	wantRun(t, take(t, r), 3420, 3500)
	if n := r.DropBefore(at(3405)); n != 0 {
		t.Errorf("dropped %d of none", n)
	}
	r.Lost(nil)
	feed(h, 3501, 3503)
	wantRun(t, take(t, r), 3501, 3503) // nothing was lost
}

func TestSlowReaderIsTold(t *testing.T) {
	h := New()
	stuck := h.JoinWith(Options{Limit: 50 * 8, Cut: tens})
	half := h.JoinWith(Options{Limit: 50 * 8, Cut: tens})
	hiccup := h.JoinWith(Options{Limit: 50 * 8, Cut: tens})
	fine := h.JoinWith(Options{Limit: 50 * 8, Cut: tens})
	var one [1]*Payload
	read := func(r *Reader) {
		if r.Stats().Queued == 0 {
			return
		}
		if n, err := r.Next(t.Context(), one[:]); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		one[0].Release()
	}
	for i := 1; i <= 1000; i++ {
		feed(h, i, i)
		take(t, fine)
		if i%2 == 0 {
			read(half)
		}
		if i < 500 || i > 600 { // a second without reading
			take(t, hiccup)
		}
	}
	now := at(1000)
	for name, c := range map[string]struct {
		r    *Reader
		want bool
	}{"stuck": {stuck, true}, "half as fast": {half, true}, "one hiccup": {hiccup, false}, "fine": {fine, false}} {
		s := c.r.Stats()
		if over := s.OverSince; over.IsZero() == c.want || c.want && now.Sub(over) < 5*time.Second {
			t.Errorf("%s: over since %v", name, over.Sub(epoch))
		}
	}
	if hiccup.Stats().Dropped == 0 {
		t.Errorf("hiccup %+v, stuck %+v", hiccup.Stats(), stuck.Stats())
	}
}

// A reader that was over its limit when the source fell silent, and then read
// all, is not slow.
func TestWhoWaitsIsNotSlow(t *testing.T) {
	h := New()
	r := h.Join(10*8, nil)
	feed(h, 1, 20)
	take(t, r)
	if n, err := r.tryNext(make([]*Payload, 1)); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if !r.Stats().OverSince.IsZero() {
		t.Errorf("%+v", r.Stats())
	}
}

// All readers get the very same bytes: what a message costs in memory does not
// depend on how many there are.
func TestReadersShareOnePayload(t *testing.T) {
	for _, n := range []int{1, 10, 200} {
		h := New()
		var readers []*Reader
		for range n {
			readers = append(readers, h.JoinWith(Options{Limit: 1 << 20, Cut: tens}))
		}
		m := make([]byte, 1316)
		dst := make([]*Payload, 1)
		allocs := testing.AllocsPerRun(200, func() {
			h.Publish(m, epoch)
			var first *Payload
			for _, r := range readers {
				if k, err := r.Next(t.Context(), dst); k != 1 || err != nil {
					t.Fatal(k, err)
				}
				if first == nil {
					first = dst[0]
				}
				if dst[0] != first {
					t.Fatal("a reader has a copy of its own")
				}
			}
			for range n {
				first.Release()
			}
		})
		if allocs > 0.1 { // a garbage collection may empty the pool once
			t.Errorf("%d readers: %v allocations a message", n, allocs)
		}
	}
}
