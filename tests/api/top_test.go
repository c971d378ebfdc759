package api

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/served"
)

// terminal is a pseudo-terminal with weirline top in it.
type terminal struct {
	t      *testing.T
	keys   *os.File
	exited chan error

	mu   sync.Mutex
	text strings.Builder
}

func newTerminal(t *testing.T, d *served.Daemon, width, height int) *terminal {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(keys.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, keys: keys, exited: make(chan error, 1)}
	cmd := exec.Command(served.Program, "top", "--api", d.URL)
	cmd.Env = append(os.Environ(), "WEIRLINE_CONTROL_TOKEN="+d.Token)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(term.read)
	go func() { term.exited <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		tty.Close() // the reader ends with the last who has it open
		done.Wait()
		keys.Close()
	})
	return term
}

func (term *terminal) read() {
	buf := make([]byte, 8192)
	for {
		n, err := term.keys.Read(buf)
		if err != nil {
			return
		}
		term.mu.Lock()
		term.text.Write(buf[:n])
		term.mu.Unlock()
	}
}

func (term *terminal) all() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.text.String()
}

var escapes = regexp.MustCompile(`\x1b\[[?0-9;]*[A-Za-z]`)

// screen is the last one that was drawn to its end, line by line.
func (term *terminal) screen() []string {
	frames := strings.Split(term.all(), "\x1b[H")
	for i := len(frames) - 1; i > 0; i-- {
		if frame, _, whole := strings.Cut(frames[i], "\x1b[J"); whole {
			return strings.Split(escapes.ReplaceAllString(frame, ""), "\r\n")
		}
	}
	return nil
}

// until waits for a screen that shows all this.
func (term *terminal) until(want ...string) (screen []string) {
	term.t.Helper()
	served.Until(term.t, fmt.Sprintf("a screen with %q", want), func() bool {
		screen = term.screen()
		text := strings.Join(screen, "\n")
		for _, w := range want {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
	return screen
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.keys.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// flowing is a summary of a daemon that receives something.
var flowing = regexp.MustCompile(`in [1-9]\d*\.\d+  out [1-9]`)

// TestTop looks at a running daemon in terminals of several sizes: what is
// important is there, nothing is wider or higher than the terminal, and q leaves
// it as it was.
func TestTop(t *testing.T) {
	t.Parallel()
	srt := port.Addr(t)
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	d := served.Start(t, token, configuration(srt)+fmt.Sprintf(
		"  - { name: dead-end, source: 'srt://127.0.0.1:%d?conntimeo=500', outputs: [ { url: 'udp://%s' } ] }\n", port.Free(t), socket.LocalAddr()))
	served.Publish(t, srt, "#!::r=live/studio,m=publish", 's', 2)
	for i := range 3 {
		served.Play(t, srt, fmt.Sprintf("#!::r=live/studio,m=request,u=viewer%d", i), 's')
	}
	local := "udp://" + socket.LocalAddr().String()
	for _, size := range []struct {
		width, height int
		want          []string
	}{
		{160, 40, []string{"STREAM ID", "u=viewer2", "AGE", "RESENT", "BUFFER", local, "no answer", "player-joined", "q quit"}},
		{80, 24, []string{"ROUTE", "studio", "dead-end", "back-off", "PEER", local, "MBIT/S", "RTT", "LOSS%", "DROPPED", "BUFFER", "connections 5", "Mbit/s", "q quit"}},
		{40, 24, []string{"ROUTE", "dead-end", "back-off", "PEER", local, "MBIT/S", "RTT", "connections 5", "q quit"}},
	} {
		t.Run(fmt.Sprintf("%dx%d", size.width, size.height), func(t *testing.T) {
			term := newTerminal(t, d, size.width, size.height)
			served.Until(t, "a bitrate", func() bool { return flowing.MatchString(strings.Join(term.screen(), "\n")) })
			screen := term.until(size.want...)
			if len(screen) > size.height {
				t.Errorf("%d lines on a terminal of %d", len(screen), size.height)
			}
			for _, line := range screen {
				if n := len([]rune(line)); n > size.width {
					t.Errorf("%d wide on a terminal of %d: %q", n, size.width, line)
				}
			}
			t.Logf("%s", strings.TrimRight(strings.Join(screen, "\n"), "\n"))
			term.press("s")
			term.until("PEER*")
			term.press("q")
			select {
			case err := <-term.exited:
				if err != nil {
					t.Errorf("q: %v", err)
				}
			case <-time.After(served.Patience):
				t.Fatal("q does not quit")
			}
			served.Until(t, "the terminal to be as it was", func() bool { return strings.Contains(term.all(), "\x1b[?25h\x1b[?1049l") })
		})
	}
}
