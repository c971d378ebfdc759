package gstplugin

/*
#include "shim.h"
*/
import "C"

import (
	"math"
	"sync"
	"time"
)

// A time.Time does not tell its reading of the monotonic clock, and C knows no
// other clock of ours. The distance of the two is measured once: between two
// readings of Go's clock that are as close as they get.
var clocks = sync.OnceValue(func() (pair struct {
	at time.Time
	ns int64 // CLOCK_MONOTONIC at that time
}) {
	least := time.Duration(math.MaxInt64)
	for range 20 {
		before := time.Now()
		ns := int64(C.srtgo_monotonic())
		if took := time.Since(before); took < least {
			least = took
			pair.at, pair.ns = before.Add(took/2), ns
		}
	}
	return pair
})

// monotonic is t on CLOCK_MONOTONIC in nanoseconds; 0 of no time.
func monotonic(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	c := clocks()
	return c.ns + int64(t.Sub(c.at))
}

// instant is the time at ns on CLOCK_MONOTONIC.
func instant(ns int64) time.Time {
	c := clocks()
	return c.at.Add(time.Duration(ns - c.ns))
}
