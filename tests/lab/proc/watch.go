package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// State is a process at one moment.
type State struct {
	RSSKB, HWMKB int64
	Threads      int
	CPU          float64 // seconds, user and system
}

// clockTicks is USER_HZ, which Linux fixes at 100 for /proc on every
// architecture Go runs on.
const clockTicks = 100

// Snapshot reads a process.
func Snapshot(pid int) (State, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return State{}, err
	}
	s, ended := parseStatus(status)
	if ended {
		return State{}, fmt.Errorf("process %d has ended", pid)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return State{}, err
	}
	s.CPU, err = parseStat(stat)
	return s, err
}

func parseStatus(text []byte) (s State, ended bool) {
	for line := range bytes.Lines(text) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		f := strings.Fields(string(rest))
		if len(f) == 0 {
			continue
		}
		n, _ := strconv.ParseInt(f[0], 10, 64)
		switch string(name) {
		case "VmRSS":
			s.RSSKB = n
		case "VmHWM":
			s.HWMKB = n
		case "Threads":
			s.Threads = int(n)
		case "State":
			ended = f[0] == "Z" || f[0] == "X"
		}
	}
	return s, ended
}

// parseStat takes user and system time; the command, in brackets, may hold
// anything.
func parseStat(text []byte) (float64, error) {
	i := bytes.LastIndexByte(text, ')')
	if i < 0 {
		return 0, fmt.Errorf("no command in %q", text)
	}
	f := strings.Fields(string(text[i+1:]))
	if len(f) < 13 {
		return 0, fmt.Errorf("only %d fields in %q", len(f), text)
	}
	user, err1 := strconv.ParseUint(f[11], 10, 64)
	sys, err2 := strconv.ParseUint(f[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("no times in %q", text)
	}
	return float64(user+sys) / clockTicks, nil
}

// Watch samples one process while it runs.
type Watch struct {
	pid  int
	end  chan struct{}
	done chan struct{}

	mu   sync.Mutex
	peak State
	rss  []sample
}

type sample struct {
	at time.Time
	kb int64
}

const sampleEvery = 100 * time.Millisecond

func watch(pid int) *Watch {
	w := &Watch{pid: pid, end: make(chan struct{}), done: make(chan struct{})}
	w.look() // a process that ends at once was seen, too
	go w.run()
	return w
}

func (w *Watch) run() {
	defer close(w.done)
	t := time.NewTicker(sampleEvery)
	defer t.Stop()
	for {
		select {
		case <-w.end:
			return
		case <-t.C:
			w.look()
		}
	}
}

func (w *Watch) look() {
	if s, err := Snapshot(w.pid); err == nil {
		w.take(s)
	}
}

func (w *Watch) take(s State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peak.HWMKB = max(w.peak.HWMKB, s.HWMKB)
	w.peak.RSSKB = max(w.peak.RSSKB, s.RSSKB)
	w.peak.Threads = max(w.peak.Threads, s.Threads)
	w.rss = append(w.rss, sample{time.Now(), s.RSSKB})
}

func (w *Watch) stop() {
	close(w.end)
	<-w.done
}

// Peak is the most that was seen of each.
func (w *Watch) Peak() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peak
}

// SimultaneousKB is the largest sum of resident memory at one moment.
func SimultaneousKB(ws ...*Watch) int64 {
	at := map[int64]int64{} // by sampling period
	for _, w := range ws {
		w.mu.Lock()
		in := map[int64]int64{}
		for _, s := range w.rss {
			k := s.at.UnixNano() / int64(sampleEvery)
			in[k] = max(in[k], s.kb)
		}
		w.mu.Unlock()
		for k, kb := range in {
			at[k] += kb
		}
	}
	most := int64(0)
	for _, kb := range at {
		most = max(most, kb)
	}
	return most
}

// Meter measures the CPU time of a process over a stretch.
type Meter struct {
	pid int
	at  time.Time
	cpu float64
}

// NewMeter begins to measure.
func NewMeter(pid int) (*Meter, error) {
	s, err := Snapshot(pid)
	return &Meter{pid, time.Now(), s.CPU}, err
}

// Cores is the average number of cores used since the last call.
func (m *Meter) Cores() (float64, error) {
	s, err := Snapshot(m.pid)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	cores := (s.CPU - m.cpu) / now.Sub(m.at).Seconds()
	m.at, m.cpu = now, s.CPU
	return cores, nil
}
