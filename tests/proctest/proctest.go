// Package proctest runs other programs in tests and waits for what they do. A
// program is gone at the end of its test, and if the test has failed, what the
// program said is shown.
//
// Lives here: Start and Process, Tail, Need, waiting for conditions and ports. May
// import: the standard library. Never: anything of this module; every test may
// use it.
package proctest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patience bounds every wait; what is waited for normally takes a fraction.
const Patience = 30 * time.Second

// Program is what to start, and with what.
type Program struct {
	Args []string
	Env  []string // beside this process's own; the last of a name counts
	// In is what it reads. Pipe: it reads what is written to Process.In. Without
	// either it reads nothing.
	In   io.Reader
	Pipe bool
	// Out takes what it prints. Without one that goes nowhere, or with SayAll to
	// what it says.
	Out    io.Writer
	SayAll bool
	Files  []*os.File // its descriptors from 3 on
	Dir    string
	// Grace is how long it may take to end when the test does, after SIGINT; 0: it
	// is killed at once.
	Grace time.Duration
	// Ended is called when it has ended and all that it printed is in Out.
	Ended func()
}

// Process is a program that was started.
type Process struct {
	T      testing.TB
	Cmd    *exec.Cmd
	In     io.WriteCloser // with Pipe
	Said   Tail           // what it says on standard error
	Exited chan struct{}  // closed when it has ended
	Err    error          // of its end; valid then
	grace  time.Duration
}

// Start starts a program.
func Start(t testing.TB, prog Program) *Process {
	t.Helper()
	cmd := exec.Command(prog.Args[0], prog.Args[1:]...)
	p := &Process{T: t, Cmd: cmd, Exited: make(chan struct{}), grace: prog.Grace}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = prog.In, prog.Out, &p.Said
	if prog.SayAll {
		cmd.Stdout = &p.Said
	}
	if prog.Env != nil {
		cmd.Env = append(os.Environ(), prog.Env...)
	}
	cmd.ExtraFiles, cmd.Dir = prog.Files, prog.Dir
	cmd.WaitDelay = 10 * time.Second // for children of its own that keep its output open
	if prog.Pipe {
		var err error
		if p.In, err = cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var took time.Duration
	go func() {
		p.Err = cmd.Wait()
		took = time.Since(begun)
		if prog.Ended != nil {
			prog.Ended()
		}
		close(p.Exited)
	}()
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("%s\n%v after %v; it said:\n%s", strings.Join(prog.Args, " "), cmd.ProcessState, took, p.Said.String())
		}
	})
	return p
}

// Pid is its process id.
func (p *Process) Pid() int { return p.Cmd.Process.Pid }

// Running reports whether it has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.Exited:
		return false
	default:
		return true
	}
}

// Wait waits for it to end by itself, for at most limit, and returns how it
// ended.
func (p *Process) Wait(limit time.Duration) error {
	select {
	case <-p.Exited:
		return p.Err
	case <-time.After(limit):
		return fmt.Errorf("%w: %s still runs after %v", os.ErrDeadlineExceeded, p.Cmd.Args[0], limit)
	}
}

// Code waits for it to end by itself and returns its exit code, 128 and the
// signal's number if one killed it.
func (p *Process) Code() int {
	p.T.Helper()
	if err := p.Wait(Patience); errors.Is(err, os.ErrDeadlineExceeded) {
		p.Kill()
		p.T.Errorf("%v still runs after %v", p.Cmd.Args, Patience)
	}
	if st, ok := p.Cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal())
	}
	return p.Cmd.ProcessState.ExitCode()
}

// WantCode complains if it ends with another exit code.
func (p *Process) WantCode(want int) {
	p.T.Helper()
	if code := p.Code(); code != want {
		p.T.Errorf("%s: exit code %d, want %d", p.Cmd.Args[0], code, want)
	}
}

// WantRunning complains if it ends within d.
func (p *Process) WantRunning(d time.Duration) {
	p.T.Helper()
	select {
	case <-p.Exited:
		p.T.Errorf("%v ended early: %v", p.Cmd.Args[0], p.Cmd.ProcessState)
	case <-time.After(d):
	}
}

// Signal sends a signal; it may have ended meanwhile.
func (p *Process) Signal(s os.Signal) { _ = p.Cmd.Process.Signal(s) }

// Kill is a death without a last word.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Exited
}

// Stop closes its input, asks it to end, and insists after its grace.
func (p *Process) Stop() {
	if p.In != nil {
		_ = p.In.Close()
	}
	if p.grace > 0 {
		p.Signal(os.Interrupt)
		if !errors.Is(p.Wait(p.grace), os.ErrDeadlineExceeded) {
			return
		}
	}
	p.Kill()
}
