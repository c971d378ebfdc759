package loop

import (
	"context"
	"errors"
	"testing"
)

func onBells(t *testing.T, f func(t *testing.T, b bell)) {
	for name, make := range map[string]func() bell{"default": newBell, "channel": newChanBell} {
		t.Run(name, func(t *testing.T) {
			b := make()
			defer b.close()
			f(t, b)
		})
	}
}

func TestBell(t *testing.T) {
	onBells(t, func(t *testing.T, b bell) {
		for range 1000 {
			b.ring()
			b.wait() // rung before
			rung := make(chan struct{})
			Go(func() { b.wait(); close(rung) })
			b.ring()
			<-rung
		}
	})
}

func TestReadySetReleases(t *testing.T) {
	_, a, b := connected(t)
	r := NewReadySet()
	r.Add(b)
	r.Add(b)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	Go(func() { _, err := r.Wait(ctx, nil); ended <- err })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v", err)
	}
	if err := a.Write([]byte("x"), Now()); err != nil {
		t.Fatal(err)
	}
	for range 3 { // it is not emptied
		got, err := r.Wait(context.Background(), nil)
		if err != nil || len(got) != 1 || got[0] != b {
			t.Fatalf("Wait = %v, %v", got, err)
		}
	}
	if r.bell == nil || r.members != 1 {
		t.Errorf("%d members", r.members)
	}
	r.Remove(b)
	r.Remove(b)
	if r.bell != nil || r.stop != nil || r.members != 0 {
		t.Errorf("an empty set holds on: %+v", r)
	}
}
