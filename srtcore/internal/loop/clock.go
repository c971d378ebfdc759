package loop

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// origin lies a second before the start of the process, so that no instant of
// ours is mono's zero, "never".
var origin = time.Now().Add(-time.Second)

// Now reads the clock. It is the only place under srtcore that does: a loop
// calls it once a wake-up, a writer once a message that brings no time of its
// own.
func Now() mono.Time { return mono.Time(time.Since(origin)) }

// Wall turns an instant into wall-clock time as it stands now; a step of the
// system's clock since the start of the process does not show.
func Wall(t mono.Time) time.Time {
	now := time.Now()
	return now.Add(t.Sub(mono.Time(now.Sub(origin))))
}

// Since returns the time from t to the wall-clock time w.
func Since(t mono.Time, w time.Time) time.Duration { return mono.Time(w.Sub(origin)).Sub(t) }

// Mono turns a wall-clock time into an instant, by its distance from now.
func Mono(w time.Time) mono.Time { return Now().Add(time.Until(w)) }
