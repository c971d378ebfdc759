package inflow

import (
	"testing"
	"time"
)

// pieces has a writer write every gap for a second, and reports whether ticking
// began.
func pieces(gap time.Duration) bool {
	var d density
	begun := time.Unix(1000, 0)
	for at := time.Duration(0); at < time.Second; at += gap {
		if d.arrived(begun.Add(at)) {
			return true
		}
	}
	return false
}

func TestTicksBeginWithDensePieces(t *testing.T) {
	for gap, want := range map[time.Duration]bool{
		40 * time.Millisecond: false, // one writer, a frame each
		20 * time.Millisecond: false,
		8 * time.Millisecond:  true,
		2 * time.Millisecond:  true,
	} {
		if got := pieces(gap); got != want {
			t.Errorf("a piece every %v: ticking %v, want %v", gap, got, want)
		}
	}
}

func TestTicksEndWhenTheyBringLittle(t *testing.T) {
	for every, want := range map[int]bool{1: true, 3: true, 10: false, 1000: false} {
		var d density
		goesOn := true
		for i := range 10 * windowTicks {
			if !d.ticked(i%every == 0) {
				goesOn = false
			}
		}
		if goesOn != want {
			t.Errorf("something in every %dth tick: goes on %v, want %v", every, goesOn, want)
		}
	}
}
