package ffmpeg

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxPause is how long an encoder may seem to stand still: frames are 20 ms
// apart, and what ffmpeg says of its progress is 20 ms old.
const maxPause = 100 * time.Millisecond

// progress follows what ffmpeg writes for -progress.
type progress struct {
	w *os.File

	mu    sync.Mutex
	steps int
	// pids are the encoder and this process; a pause in which one of them was
	// ready to run and had no core is the machine's.
	pids   []waiting
	raw    time.Duration // the longest pause
	own    time.Duration // the longest less the time without a core
	ownRaw time.Duration // that one, as it was
}

func newProgress(t *testing.T) *progress {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &progress{w: w}
	go func() {
		defer r.Close()
		p.follow(r)
	}()
	t.Cleanup(func() { w.Close() })
	return p
}

// watch begins to count: the encoder runs evenly.
func (p *progress) watch(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pids = []waiting{{pid: pid}, {pid: os.Getpid()}}
	p.steps = 0
}

func (p *progress) follow(r io.Reader) {
	var last time.Time
	frame := 0
	for lines := bufio.NewScanner(r); lines.Scan(); {
		n, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "frame="))
		if err != nil || n <= frame {
			continue
		}
		now := time.Now()
		p.step(now.Sub(last))
		frame, last = n, now
	}
}

func (p *progress) step(pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := pause
	for i := range p.pids {
		own -= p.pids[i].more()
	}
	if p.steps++; p.steps < 3 || len(p.pids) == 0 {
		return
	}
	p.raw = max(p.raw, pause)
	if own > p.own {
		p.own, p.ownRaw = own, pause
	}
}

func (p *progress) wantSteady(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	t.Logf("longest pause of the encoder %v; less the time in which it had no core: %v, of %v; %d steps",
		p.raw.Round(time.Millisecond), p.own.Round(time.Millisecond), p.ownRaw.Round(time.Millisecond), p.steps)
	if p.steps < 100 {
		t.Errorf("only %d steps of progress", p.steps)
	}
	if p.own > maxPause {
		t.Errorf("the encoder paused for %v, want at most %v", p.own, maxPause)
	}
}

// waiting counts how long the threads of a process were ready and had no core.
type waiting struct {
	pid    int
	before map[string]int64
}

// more is the longest that one thread has waited since the last call.
func (w *waiting) more() time.Duration {
	var longest int64
	now := map[string]int64{}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", w.pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", w.pid, task.Name()))
		f := strings.Fields(string(text))
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64)
		now[task.Name()] = n
		if was, ok := w.before[task.Name()]; ok {
			longest = max(longest, n-was)
		}
	}
	w.before = now
	return time.Duration(longest)
}
