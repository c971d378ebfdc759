package gst

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait; what is waited for normally takes a fraction.
const patience = 20 * time.Second

// process is a program under test or a driver.
type process struct {
	cmd    *exec.Cmd
	argv   []string
	stdin  io.WriteCloser
	stderr tail
	exited chan struct{}
	err    error
}

// start runs a program whose output goes to out. It is gone at the end of the
// test, and if the test failed, what it said is shown.
func start(t *testing.T, out io.Writer, argv ...string) *process {
	t.Helper()
	return startEnv(t, nil, out, argv...)
}

func startEnv(t *testing.T, env []string, out io.Writer, argv ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), argv: argv, exited: make(chan struct{})}
	p.cmd.Env = append(lab.env[:len(lab.env):len(lab.env)], env...)
	p.cmd.Stdout, p.cmd.Stderr = out, &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
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

// launch runs a pipeline by gst-launch-1.0. --no-fault: a crash must end the
// program, not make it spin.
func launch(t *testing.T, out io.Writer, line string) *process {
	t.Helper()
	return start(t, out, append([]string{"gst-launch-1.0", "-q", "--no-fault"}, strings.Fields(line)...)...)
}

// wait waits for the program to end by itself.
func (p *process) wait(limit time.Duration) error {
	select {
	case <-p.exited:
		return p.err
	case <-time.After(limit):
		return fmt.Errorf("still running after %v", limit)
	}
}

// stop asks the program to end and insists after two seconds.
func (p *process) stop() {
	p.stdin.Close()
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.exited:
		return
	case <-time.After(2 * time.Second):
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// tail keeps the end of what a program says.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const keep = 16 << 10

func (l *tail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() > keep {
		l.b.Next(l.b.Len() - keep/2)
	}
	return l.b.Write(b)
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// waitBound waits until somebody has bound the port, as the system sees it:
// trying to bind it would get in the listener's way.
func waitBound(t *testing.T, port int) {
	t.Helper()
	eventually(t, fmt.Sprintf("nobody listens on port %d", port), func() bool { return bound(port) })
}

func bound(port int) bool { return inode(port) != "" }

// inode names the socket that is bound to the port, "" if none is.
func inode(port int) string {
	want := fmt.Sprintf(":%04X", port)
	for _, name := range []string{"/proc/net/udp", "/proc/net/udp6"} {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && strings.HasSuffix(f[1], want) {
				return f[9]
			}
		}
	}
	return ""
}

func socketOf(t *testing.T, port int) string {
	t.Helper()
	waitBound(t, port)
	return inode(port)
}

func eventually(t *testing.T, complaint string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(complaint)
		}
	}
}
