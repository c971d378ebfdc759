// Package proc runs the lab's processes and watches them from outside: what they
// print, what the system books to them, how much memory and how many threads
// they have while they run.
//
// Lives here: Process, Watch, machine facts and checks.
// May import: x/sys, the standard library. Never: profile, report, srtcore,
// sidecar.
package proc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec is a program to start.
type Spec struct {
	Name  string // in messages and raw lines
	Argv  []string
	Env   []string // besides the lab's own
	Cores string   // as taskset -c takes them; empty: anywhere
	Ready string   // what it writes to stderr when others may come; empty: at once
}

// Process is a running program.
type Process struct {
	Spec  Spec
	Watch *Watch
	cmd   *exec.Cmd
	out   bytes.Buffer
	ready chan struct{} // closed when it said so, or when its stderr ended
	said  bool
	read  sync.WaitGroup
	last  string // line it wrote to stderr

	once sync.Once
	err  error
}

// Start starts it. The end of ctx kills it.
func Start(ctx context.Context, s Spec) (*Process, error) {
	argv := s.Argv
	if s.Cores != "" {
		argv = append([]string{"taskset", "-c", s.Cores}, argv...)
	}
	p := &Process{Spec: s, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), ready: make(chan struct{})}
	p.cmd.Stdout = &p.out
	p.cmd.Env = append(os.Environ(), s.Env...)
	// A signal from the terminal is the lab's to pass on.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = 2 * time.Second
	pipe, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	p.read.Go(func() { p.readStderr(pipe) })
	p.Watch = watch(p.cmd.Process.Pid)
	return p, nil
}

func (p *Process) readStderr(r io.Reader) {
	defer func() {
		if !p.said {
			close(p.ready)
		}
	}()
	for sc := bufio.NewScanner(r); sc.Scan(); {
		p.last = sc.Text()
		if !p.said && p.Spec.Ready != "" && strings.Contains(p.last, p.Spec.Ready) {
			p.said = true
			close(p.ready)
		}
	}
}

// WaitReady waits until the process says that it is ready.
func (p *Process) WaitReady(limit time.Duration) error {
	select {
	case <-p.ready:
	case <-time.After(limit):
		return fmt.Errorf("%s did not say %q within %v", p.Spec.Name, p.Spec.Ready, limit)
	}
	if p.exited() {
		if _, err := p.Lines(); err != nil {
			return err
		}
		return fmt.Errorf("%s ended at once: %s", p.Spec.Name, p.last)
	}
	return nil
}

func (p *Process) exited() bool {
	_, err := Snapshot(p.Pid())
	return err != nil
}

// Pid is its process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Wait waits for the end. It may be called more than once.
func (p *Process) Wait() error {
	p.once.Do(func() {
		p.read.Wait()
		p.err = p.cmd.Wait()
		p.Watch.stop()
	})
	return p.err
}

// Stop ends the process if it runs: by SIGTERM, and after a grace by SIGKILL.
func (p *Process) Stop(grace time.Duration) {
	kill := time.AfterFunc(grace, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	p.Signal(syscall.SIGTERM)
	_ = p.Wait()
}

// Lines waits for the end and returns the JSON lines it printed, with the
// system's own figures added to the last.
func (p *Process) Lines() ([]map[string]any, error) {
	werr := p.Wait()
	var lines []map[string]any
	for d := json.NewDecoder(bytes.NewReader(p.out.Bytes())); ; {
		line := map[string]any{}
		if err := d.Decode(&line); err != nil {
			if !errors.Is(err, io.EOF) {
				return lines, fmt.Errorf("%s printed no JSON: %w", p.Spec.Name, err)
			}
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s printed no result (%v): %s", p.Spec.Name, werr, p.last)
	}
	p.addSystem(lines[len(lines)-1])
	if text, ok := lines[0]["error"].(string); ok {
		return lines, fmt.Errorf("%s: %s", p.Spec.Name, text)
	}
	if werr != nil {
		werr = fmt.Errorf("%s: %w: %s", p.Spec.Name, werr, p.last)
	}
	return lines, werr
}

func (p *Process) addSystem(line map[string]any) {
	ps := p.cmd.ProcessState
	line["total_cpu_s"] = (ps.UserTime() + ps.SystemTime()).Seconds()
	if ru, ok := ps.SysUsage().(*syscall.Rusage); ok {
		line["total_nvcsw"], line["total_nivcsw"] = ru.Nvcsw, ru.Nivcsw
	}
	peak := p.Watch.Peak()
	line["seen_rss_kb"], line["seen_threads"] = peak.HWMKB, peak.Threads
}

// CPU is what the whole process used, once it has ended.
func (p *Process) CPU() float64 {
	if p.cmd.ProcessState == nil {
		return 0
	}
	return (p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Seconds()
}
