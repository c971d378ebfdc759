//go:build !linux

package bench

import "time"

// usage is what the process has used so far; of other systems only the time.
type usage struct {
	user, sys     float64
	nvcsw, nivcsw int64
	at            int64
}

func usageNow() usage { return usage{at: now()} }

type peaks struct{ rssKB, threads int64 }

func (p *peaks) look() {}

var clockBase = time.Now()

// now is monotonic within this process only: latencies between two processes
// are not measured here.
func now() int64 { return int64(time.Since(clockBase)) }
