package srtcore

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/srtcore/internal/loop"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// deadline is the instant after which reads, or writes, time out. It costs a
// timer only once one is set, and nothing on the way of a message but a look at
// passed.
type deadline struct {
	kick   func() // wakes those who wait
	passed atomic.Bool

	mu    sync.Mutex
	at    mono.Time // zero: none
	timer *time.Timer
}

// set moves the deadline; the zero t is none.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.IsZero() {
		d.at = 0
		d.passed.Store(false)
		d.stop()
		return
	}
	d.at = max(loop.Mono(t), 1)
	d.check()
}

// check acts on a deadline that has come, and waits for one that has not. The
// lock is held.
func (d *deadline) check() {
	left := d.at.Sub(loop.Now())
	if left <= 0 {
		d.passed.Store(true)
		d.kick()
		return
	}
	d.passed.Store(false)
	if d.timer == nil {
		d.timer = time.AfterFunc(left, d.fire)
		return
	}
	d.timer.Reset(left)
}

// fire is the timer's end; the deadline may have been moved meanwhile.
func (d *deadline) fire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at != 0 {
		d.check()
	}
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// clear forgets the deadline for good.
func (d *deadline) clear() { d.set(time.Time{}) }
