//go:build unix

package loop

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkWaitTick waits for a thousand ticks a second; cpu-us/tick is what the
// process pays for each, which is the floor of an active loop.
func BenchmarkWaitTick(b *testing.B) {
	for name, portable := range map[string]bool{"default": false, "portable": true} {
		b.Run(name, func(b *testing.B) {
			p, err := newPoller(portable)
			if err != nil {
				b.Fatal(err)
			}
			defer p.close()
			before := cpuTime()
			now := Now()
			for b.Loop() {
				now = p.waitTick(now.Add(DefaultTick))
			}
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-us/tick")
		})
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
