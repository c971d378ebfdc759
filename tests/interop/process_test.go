package interop

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// sender is the sending end of a connection.
type sender interface {
	io.Writer
	// finish says that there is no more; it returns when the end has closed.
	finish() error
	// stop ends it by force.
	stop()
}

// receiver is the receiving end.
type receiver interface {
	content() *collector
	stop()
}

// process is an end of a connection that is a program.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr lockedBuffer
	sink   *collector
	exited chan struct{}
	err    error
}

// start runs a program with a pipe to write to. What it prints goes to sink, if
// there is one. It is gone at the end of the test.
func start(t *testing.T, sink *collector, argv ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), sink: sink, exited: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	if sink != nil {
		p.cmd.Stdout = sink
	}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		if sink != nil {
			sink.end()
		}
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("%s\n%v; it said:\n%s", strings.Join(argv, " "), p.cmd.ProcessState, p.stderr.String())
		}
	})
	return p
}

// Write writes to the program's standard input.
func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

func (p *process) content() *collector { return p.sink }

// finish closes the input and waits for the program to end by itself.
func (p *process) finish() error {
	p.stdin.Close()
	select {
	case <-p.exited:
		return p.err
	case <-time.After(patience):
		p.stop()
		return os.ErrDeadlineExceeded
	}
}

// stop asks the program to end and insists after a second.
func (p *process) stop() {
	p.stdin.Close()
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.exited:
		return
	case <-time.After(time.Second):
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// lockedBuffer keeps the end of what a program says on stderr.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const keepStderr = 16 << 10

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() > keepStderr {
		l.b.Next(l.b.Len() - keepStderr/2)
	}
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
