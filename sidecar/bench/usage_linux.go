package bench

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what the process has used so far.
type usage struct {
	user, sys     float64 // seconds
	nvcsw, nivcsw int64
	at            int64 // monotonic ns
}

func seconds(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func usageNow() usage {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return usage{user: seconds(r.Utime), sys: seconds(r.Stime), nvcsw: int64(r.Nvcsw), nivcsw: int64(r.Nivcsw), at: now()}
}

// peaks keeps the largest resident size and number of threads seen.
type peaks struct{ rssKB, threads int64 }

func (p *peaks) look() {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	p.rssKB = max(p.rssKB, statusField(b, "VmHWM:"))
	p.threads = max(p.threads, statusField(b, "Threads:"))
}

func statusField(b []byte, name string) int64 {
	_, rest, ok := bytes.Cut(b, []byte("\n"+name))
	if !ok {
		return 0
	}
	f := bytes.Fields(rest[:min(len(rest), 64)])
	if len(f) == 0 {
		return 0
	}
	v, _ := strconv.ParseInt(string(f[0]), 10, 64)
	return v
}

var (
	clockBase   = time.Now()
	clockOffset = measureOffset()
)

// measureOffset finds CLOCK_MONOTONIC at clockBase: the smallest of several
// tries, since one may be preempted between its two readings.
func measureOffset() int64 {
	best := int64(1<<63 - 1)
	for range 20 {
		var ts unix.Timespec
		before := time.Since(clockBase)
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		best = min(best, ts.Nano()-int64(before))
	}
	return best
}

// now is CLOCK_MONOTONIC in ns, the clock that sender and receiver share. The
// runtime's own clock is the same and read without a system call.
func now() int64 { return clockOffset + int64(time.Since(clockBase)) }
