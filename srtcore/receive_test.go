package srtcore_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

func TestReceiveBatch(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		const n = 500
		a, b := r.pair()
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.mustWrite(a, 7, n)
			_ = a.Close()
		}()
		batch := make([]srtcore.Message, 50)
		var kept []srtcore.Message // beyond the next calls, and the end
		got, last := 0, time.Time{}
		for {
			k, err := b.ReceiveBatch(batch)
			for i := range batch[:k] {
				m := &batch[i]
				if string(m.Payload()) != string(message(7, got)) {
					t.Errorf("message %d is wrong", got)
				}
				if d := time.Since(m.Info().Source) - m.Age(time.Now()); d.Abs() > 10*time.Millisecond || m.Seq() != m.Info().Seq {
					t.Errorf("message %d: Age and Info differ by %v, Seq %d and %d", got, d, m.Seq(), m.Info().Seq)
				}
				if at := m.Info().Source; at.Before(last) {
					t.Errorf("message %d is from before the one before it", got)
				} else {
					last = at
				}
				got++
			}
			if got < 200 {
				kept = append(kept, batch[:k]...)
			} else {
				b.Release(batch[:k])
				if k > 0 && batch[0].Payload() != nil {
					t.Error("a released message still has content")
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		<-done
		if got != n {
			t.Errorf("%d messages of %d", got, n)
		}
		for i := range kept {
			if string(kept[i].Payload()) != string(message(7, i)) {
				t.Errorf("kept message %d has changed", i)
			}
		}
		b.Release(kept)
		b.Release(kept) // of what is empty
	})
}

func TestTryReceiveBatch(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	batch := make([]srtcore.Message, 4)
	if n, err := b.TryReceiveBatch(batch); n != 0 || err != nil {
		t.Errorf("TryReceiveBatch of nothing = %d, %v", n, err)
	}
	if n, err := b.ReceiveBatch(nil); n != 0 || err != nil {
		t.Errorf("ReceiveBatch into nothing = %d, %v", n, err)
	}
	b.SetReadDeadline(time.Now().Add(-time.Second))
	if _, err := b.ReceiveBatch(batch); !errors.Is(err, srtcore.ErrTimeout) {
		t.Errorf("past its deadline: %v", err)
	}
	b.SetReadDeadline(time.Time{})
	r.wantWrite(a, "one")
	n, err := b.ReceiveBatch(batch)
	if n != 1 || err != nil || string(batch[0].Payload()) != "one" {
		t.Fatalf("ReceiveBatch = %d, %v, %q", n, err, batch[0].Payload())
	}
	b.Release(batch)
	b.Abort()
	if _, err := b.TryReceiveBatch(batch); !errors.Is(err, srtcore.ErrClosed) {
		t.Errorf("after Abort: %v", err)
	}
}
