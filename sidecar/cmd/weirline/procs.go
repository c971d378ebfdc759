package main

import (
	"os"
	"runtime"
	"time"
)

// procs keeps the daemon on one processor while its writers leave it nearly
// idle. With several, the runtime wakes a second thread whenever two goroutines
// become ready at once, and for what they have to do here that thread's wake-up
// costs more than it helps. It is asked while ingest reads on a tick, about 16
// times a second, and hands everything back when that ends.
type procs struct {
	used, at time.Duration // at the last look
	calm     int           // looks since the process was last busy
	one      bool
	set      func(one bool)
}

const (
	// calmShare of one processor is little enough for one, busyShare is not: what
	// comes may be as much again before the next look.
	calmShare = 0.30
	busyShare = 0.50
	// calmLooks in a row, half a second, are believed.
	calmLooks = 8
)

// newProcs returns nil if it is the user who says how many.
func newProcs() *procs {
	if os.Getenv("GOMAXPROCS") != "" {
		return nil
	}
	return &procs{set: func(one bool) {
		if one {
			runtime.GOMAXPROCS(1)
			return
		}
		runtime.SetDefaultGOMAXPROCS()
	}}
}

// look takes the time that the process has used until now; ticking is false
// when the reading on a tick has ended.
func (p *procs) look(used, now time.Duration, ticking bool) {
	share := busyShare
	if now > p.at && p.at > 0 {
		share = float64(used-p.used) / float64(now-p.at)
	}
	p.used, p.at = used, now
	switch {
	case !ticking || share >= busyShare:
		p.calm = 0
	case share < calmShare:
		p.calm++
	}
	if one := p.calm >= calmLooks; one != p.one {
		p.one = one
		p.set(one)
	}
}
