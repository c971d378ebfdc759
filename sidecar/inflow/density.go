package inflow

import "time"

// density decides whether the tick pays: an idle machine spends about as much
// on a wake-up for nothing as on one for a piece. It counts in windows.
type density struct {
	begun  time.Time // of a window of arrivals
	pieces int       // in it
	ticks  int       // of a window of ticks
	filled int       // those that brought something
}

const (
	// windowTicks is the length of a window, 64 ms: one or two frames of video.
	windowTicks = 16
	// densePieces begin the ticking, as three writers of 25 frames a second bring
	// them. A piece costs up to three wake-ups, since a writer with Nagle's
	// algorithm on sends the rest only when the first bytes are acknowledged,
	// which reading does.
	densePieces = 6
	// thinTicks of a window with something in it are too few to go on.
	thinTicks = 3
)

// arrived counts a piece that a sleeping read brought; true: tick.
func (d *density) arrived(now time.Time) bool {
	if now.Sub(d.begun) > windowTicks*Tick {
		d.begun, d.pieces = now, 0
	}
	d.pieces++
	return d.pieces >= densePieces
}

// ticked counts a tick; false: ticking does not pay any more.
func (d *density) ticked(some bool) bool {
	d.ticks++
	if some {
		d.filled++
	}
	if d.ticks < windowTicks {
		return true
	}
	pays := d.filled > thinTicks
	d.ticks, d.filled = 0, 0
	return pays
}
