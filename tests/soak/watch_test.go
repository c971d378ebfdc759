package soak

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sample is what a process holds at one moment.
type sample struct {
	rss, heap int64 // bytes; the heap after a collection
	files     int
	routines  int
}

func takeSample() sample {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return sample{rss: rss(), heap: int64(m.HeapAlloc), files: openFiles(), routines: runtime.NumGoroutine()}
}

// rss returns the resident set, 0 where /proc does not tell.
func rss() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

func openFiles() int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(d)
}

// watch takes samples during a run.
type watch struct {
	end     chan struct{}
	wg      sync.WaitGroup
	samples []sample
}

// startWatch takes about sixty samples over the run, after a warm-up.
func startWatch(total time.Duration) *watch {
	w := &watch{end: make(chan struct{})}
	w.wg.Go(func() {
		tick := time.NewTicker(total / 66)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-w.end:
				return
			case <-tick.C:
			}
			if n >= 6 {
				w.samples = append(w.samples, takeSample())
			}
		}
	})
	return w
}

func (w *watch) stop() {
	close(w.end)
	w.wg.Wait()
}

// check compares the last third of the run with the first.
func (w *watch) check(t *testing.T) {
	t.Helper()
	third := len(w.samples) / 3
	if third < 3 {
		t.Fatalf("only %d samples", len(w.samples))
	}
	first, last := peak(w.samples[:third]), peak(w.samples[len(w.samples)-third:])
	t.Logf("first third: %v", first)
	t.Logf("last third:  %v", last)
	const slack = 3 << 20
	if last.heap > first.heap+first.heap/10+slack {
		t.Errorf("the heap grew from %d to %d bytes", first.heap, last.heap)
	}
	if last.rss > first.rss+first.rss/10+slack {
		t.Errorf("the resident set grew from %d to %d bytes", first.rss, last.rss)
	}
	if last.files > first.files {
		t.Errorf("open files grew from %d to %d", first.files, last.files)
	}
	if last.routines > first.routines {
		t.Errorf("goroutines grew from %d to %d", first.routines, last.routines)
	}
}

func peak(s []sample) (p sample) {
	for _, x := range s {
		p.rss, p.heap = max(p.rss, x.rss), max(p.heap, x.heap)
		p.files, p.routines = max(p.files, x.files), max(p.routines, x.routines)
	}
	return p
}

// wantBack waits for descriptors and goroutines to return to where they were.
func wantBack(t *testing.T, before sample) {
	t.Helper()
	var now sample
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		now = takeSample()
		if now.files <= before.files && now.routines <= before.routines {
			return
		}
	}
	t.Errorf("afterwards %d files and %d goroutines, before %d and %d", now.files, now.routines, before.files, before.routines)
}
