package loop

import (
	"runtime"
	"testing"
	"time"
)

// In steady state nothing is allocated on the way of a message, from Write at
// one end to Read at the other.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	_, a, b := connected(t)
	pass := func(count int) (mallocs uint64) {
		var before, after runtime.MemStats
		payload, p := make([]byte, 1316), make([]byte, 1500)
		pace := time.NewTicker(time.Millisecond)
		defer pace.Stop()
		runtime.ReadMemStats(&before)
		for sent, got := 0, 0; got < count; <-pace.C {
			for i := 0; i < 5 && sent < count; i++ {
				if err := a.Write(payload, Now()); err != nil {
					t.Fatal(err)
				}
				sent++
			}
			for {
				if _, _, err := b.Read(p); err != nil {
					break
				}
				got++
			}
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	pass(1000) // queues and free lists grow
	// A stall of the machine makes a queue as long as this; what it takes stays.
	payload, p := make([]byte, 1316), make([]byte, 1500)
	const stall = 200
	for range stall {
		if err := a.Write(payload, Now()); err != nil {
			t.Fatal(err)
		}
	}
	for got := 0; got < stall; {
		if ch, ok := b.ArmRead(); ok {
			<-ch
			b.DisarmRead()
		}
		for ; ; got++ {
			if _, _, err := b.Read(p); err != nil {
				break
			}
		}
	}
	const count = 2000
	if n := pass(count); n > count/20 {
		t.Errorf("%d allocations for %d messages", n, count)
	} else {
		t.Logf("%d allocations for %d messages", n, count)
	}
}
