package main

import (
	"time"

	"golang.org/x/sys/unix"
)

var procsBegun = time.Now()

// ticked is ingest's word that it reads on a tick, or does no more.
func (p *procs) ticked(on bool) {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return
	}
	p.look(time.Duration(r.Utime.Nano()+r.Stime.Nano()), time.Since(procsBegun), on)
}
