package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

// program is an implementation: its command line up to recv or send, and what
// its sender is told besides.
type program struct {
	argv, send []string
}

// process is one running side.
type process struct {
	cmd       *exec.Cmd
	stdout    bytes.Buffer
	listening chan struct{} // closed when it said so, or when its stderr ended
	tail      tail
	watch     watch
}

// runPair runs receiver and sender on a free port and hands each printed line,
// with the system's own figures added, to keep.
func runPair(prog program, p profile.Profile, secs float64, keep func(map[string]any) error) report.Run {
	var r report.Run
	err := func() error {
		port, err := freePort()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration((secs+60)*float64(time.Second)))
		defer cancel()
		common := append([]string{"--port", strconv.Itoa(port), "--secs", fmt.Sprint(secs)}, p.Common...)
		rcv, err := begin(ctx, prog.argv, "recv", common)
		if err != nil {
			return err
		}
		defer rcv.kill()
		select {
		case <-rcv.listening:
		case <-time.After(5 * time.Second):
			return errors.New("the receiver does not say that it listens")
		}
		args := append([]string{"--host", "127.0.0.1"}, common...)
		snd, err := begin(ctx, prog.argv, "send", append(append(args, p.Send...), prog.send...))
		if err != nil {
			return err
		}
		if err := snd.finish(&r.Send, keep); err != nil {
			return err
		}
		return rcv.finish(&r.Recv, keep)
	}()
	if err != nil {
		r.Failed = err.Error()
	}
	return r
}

func freePort() (int, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port, nil
}

func begin(ctx context.Context, argv []string, role string, args []string) (*process, error) {
	argv = append(append(append([]string{}, argv...), role), args...)
	p := &process{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), listening: make(chan struct{})}
	p.cmd.Stdout = &p.stdout
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.tail.wg.Go(func() { p.readStderr(pipe) })
	p.watch.start(p.cmd.Process.Pid)
	return p, nil
}

// tail keeps the last line a process wrote to stderr.
type tail struct {
	wg   sync.WaitGroup
	last string
}

func (p *process) readStderr(r io.Reader) {
	said := false
	for sc := bufio.NewScanner(r); sc.Scan(); {
		p.tail.last = sc.Text()
		if !said && strings.Contains(p.tail.last, "listening") {
			said = true
			close(p.listening)
		}
	}
	if !said {
		close(p.listening)
	}
}

func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		p.tail.wg.Wait()
		_ = p.cmd.Wait()
		p.watch.stop()
	}
}

// finish waits for the process and reads its result.
func (p *process) finish(s *report.Side, keep func(map[string]any) error) error {
	p.tail.wg.Wait()
	err := p.cmd.Wait()
	p.watch.stop()
	line := map[string]any{}
	if uerr := json.Unmarshal(bytes.TrimSpace(p.stdout.Bytes()), &line); uerr != nil {
		return fmt.Errorf("%s printed no result (%v): %s", p.cmd.Args, err, p.tail.last)
	}
	ps := p.cmd.ProcessState
	line["total_cpu_s"] = (ps.UserTime() + ps.SystemTime()).Seconds()
	line["seen_rss_kb"], line["seen_threads"] = p.watch.rss, p.watch.threads
	if kerr := keep(line); kerr != nil {
		return kerr
	}
	text, _ := json.Marshal(line)
	if uerr := json.Unmarshal(text, s); uerr != nil {
		return uerr
	}
	// What was seen from outside counts where it is more than what was said.
	s.PeakRSSKB, s.PeakThreads = max(s.PeakRSSKB, p.watch.rss), max(s.PeakThreads, p.watch.threads)
	if s.Error != "" {
		return errors.New(s.Error)
	}
	return err
}

// watch samples memory and threads of a process from outside.
type watch struct {
	rss     int64 // KiB, high-water mark
	threads int
	end     chan struct{}
	wg      sync.WaitGroup
}

func (w *watch) start(pid int) {
	w.end = make(chan struct{})
	w.wg.Go(func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			w.sample(pid)
			select {
			case <-w.end:
				return
			case <-tick.C:
			}
		}
	})
}

func (w *watch) stop() {
	close(w.end)
	w.wg.Wait()
}

func (w *watch) sample(pid int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "VmHWM:":
			w.rss = max(w.rss, n)
		case "Threads:":
			w.threads = max(w.threads, int(n))
		}
	}
}
