package ffmpeg

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait; what is waited for normally takes a fraction.
const patience = 30 * time.Second

// process is a program under test.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	said   tail // stderr
	exited chan struct{}
}

// start runs a program; it is gone at the end of the test, and if the test
// failed, what it said is shown. in and out may be nil.
func start(t *testing.T, in io.Reader, out io.Writer, argv ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, &p.said
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var took time.Duration
	go func() {
		_ = p.cmd.Wait()
		took = time.Since(begun)
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s\n%v after %v; it said:\n%s", strings.Join(argv, " "), p.cmd.ProcessState, took, p.said.String())
		}
	})
	return p
}

// weirline runs the program of this project.
func weirline(t *testing.T, args ...string) *process {
	t.Helper()
	return start(t, nil, nil, append([]string{bench.weirline}, args...)...)
}

// code waits for the program to end by itself and returns its exit code, 128+n
// for one that was killed.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.kill()
		p.t.Errorf("%v still runs after %v", p.cmd.Args, patience)
	}
	if st, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return 128 + int(st.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// waitUntil waits for a program to have been running for d.
func (p *process) wantRunning(d time.Duration) {
	p.t.Helper()
	select {
	case <-p.exited:
		p.t.Errorf("%v ended early: %v", p.cmd.Args[0], p.cmd.ProcessState)
	case <-time.After(d):
	}
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// kill is a death without a last word.
func (p *process) kill() {
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

func containsWord(text []byte, word string) bool {
	return slices.Contains(strings.Fields(string(text)), word)
}

// waitBound waits until somebody has bound the port, as the system sees it:
// trying to bind it would get in the listener's way.
func waitBound(t *testing.T, network, port string) {
	t.Helper()
	eventually(t, fmt.Sprintf("nobody listens on %s port %s", network, port), func() bool { return bound(network, port) })
}

func bound(network, port string) bool {
	n, _ := strconv.Atoi(port)
	want := fmt.Sprintf(":%04X", n)
	for _, name := range []string{"/proc/net/" + network, "/proc/net/" + network + "6"} {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[1], want) && (network == "udp" || f[3] == "0A") {
				return true
			}
		}
	}
	return false
}

func eventually(t *testing.T, complaint string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(complaint)
		}
	}
}

// words splits as a shell does, as far as the tables need it.
func words(line string) (out []string) {
	var b strings.Builder
	var inside byte
	some := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case inside != 0 && c == inside:
			inside = 0
		case inside == 0 && (c == '\'' || c == '"'):
			inside, some = c, true
		case inside == 0 && c == ' ':
			if some {
				out = append(out, b.String())
			}
			b.Reset()
			some = false
		default:
			b.WriteByte(c)
			some = true
		}
	}
	if some {
		out = append(out, b.String())
	}
	return out
}
