//go:build weirlinedebug

package engine

import "github.com/weirline/weirline/srtcore/internal/mono"

// drainCheck holds the driver to the grammar: everything that happened at one
// now is drained before a later one is handed in.
type drainCheck struct {
	now   mono.Time
	dirty bool
}

// mutate is called by every Handle and command.
func (d *drainCheck) mutate(now mono.Time) {
	if now < d.now {
		panic("engine: time went backwards")
	}
	if d.dirty && now > d.now {
		panic("engine: not drained before a later now")
	}
	d.now, d.dirty = now, true
}

// drained is called by PollTimeout, the last of the polls.
func (d *drainCheck) drained() { d.dirty = false }
