package ffmpeg

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// Signals reach ffmpeg once, and its exit code comes through.
func TestExecSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			port, mkv := strconv.Itoa(port.Free(t)), filepath.Join(t.TempDir(), "out.mkv")
			got := receive(t, "srt://:"+port+"?mode=listener")
			p := wrapped(t, "", "ffmpeg -nostdin -v error -re -stream_loop 20 -i "+bench.short+" -map 0 -c copy -f mpegts srt://127.0.0.1:"+port+" -map 0 -c copy "+mkv)
			proctest.Eventually(t, "no media comes", func() bool { return got.bytes() > 100000 })
			p.Signal(s)
			if code := p.Code(); code != 255 {
				t.Errorf("exit code %d, want ffmpeg's 255", code)
			}
			framesOf(t, got.file()).wantSame(t, framesOf(t, mkv))
		})
	}
}

// wantSame: what was sent is what was written at the same time.
func (f frames) wantSame(t *testing.T, file frames) {
	t.Helper()
	if len(file) == 0 {
		t.Error("ffmpeg did not finish its file")
	}
	for s, list := range file {
		if n := len(f[s]); n < len(list)-1 || n > len(list)+1 {
			t.Errorf("stream %s: %d frames were sent, %d are in the file", s, n, len(list))
		}
	}
}

func TestExecExitCodes(t *testing.T) {
	for line, want := range map[string]int{
		"sh -c 'exit 7'":                                             7,
		"sh -c 'kill -9 $$'":                                         128 + 9,
		"no-such-program srt://h:1":                                  127,
		"/dev/null x":                                                126,
		"ffmpeg -nosuchoption":                                       1,
		"ffmpeg -f srt -i srt://h":                                   2, // no port
		"ffmpeg -i srt://h:1?mode=rendezvous x.ts":                   2,
		"ffmpeg -i srt://h:1?latancy=200 x.ts":                       2,
		"ffmpeg -i srt://h:1?passphrase=short x.ts":                  2,
		"ffmpeg -i x.ts -f mpegts srt://h:1?transtype=file":          2,
		"ffmpeg -i x.ts -f mpegts -pkt_size 9000 srt://h:1":          2,
		"ffmpeg -i x.ts -f mpegts srt://h:1?latency=1200000000":      2,
		"ffmpeg -i x.ts -f tee [f=mpegts:pbkeylen=17]srt://h:1|x.ts": 2,
	} {
		p := wrapped(t, "", line)
		if code := p.Code(); code != want {
			t.Errorf("%s: exit code %d, want %d", line, code, want)
		}
		if want == 2 && !strings.Contains(p.Said.String(), "weirline: ") {
			t.Errorf("%s: it says %q", line, p.Said.String())
		}
	}
}

// The passphrase stands in no process list.
func TestExecHidesSecrets(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(port.Free(t))
	const secret = "correct-horse-battery"
	got := receive(t, "srt://:"+port+"?mode=listener&passphrase="+secret)
	p := wrapped(t, "", "ffmpeg -nostdin -v error -re -i "+bench.short+" -c copy -passphrase "+secret+" -f mpegts srt://127.0.0.1:"+port)
	proctest.Eventually(t, "no media comes", func() bool { return got.bytes() > 0 })
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	seen := false
	for _, name := range all {
		line, _ := os.ReadFile(name)
		seen = seen || bytes.Contains(line, []byte("127.0.0.1:"+port)) && bytes.Contains(line, []byte("exec"))
		if bytes.Contains(line, []byte(secret)) {
			t.Errorf("%s shows %q", name, line)
		}
	}
	if !seen {
		t.Error("the wrapper's command line was not found")
	}
	if code := p.Code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A proxy in the environment is not for the private address.
func TestExecPassesProxiesBy(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(port.Free(t))
	got := receive(t, "srt://:"+port+"?mode=listener")
	argv := append([]string{"env", "http_proxy=http://127.0.0.1:9", "no_proxy=example.org"},
		wrapping("", "ffmpeg -nostdin -v error -re -i "+bench.short+" -map 0 -c copy -f mpegts srt://127.0.0.1:"+port)...)
	if code := start(t, nil, nil, argv...).Code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	framesOf(t, got.file()).wantAll(t, "received", framesOfClip(t, bench.short))
}

// Statistics come in the format asked for.
func TestExecStatistics(t *testing.T) {
	t.Parallel()
	port, file := strconv.Itoa(port.Free(t)), filepath.Join(t.TempDir(), "stats")
	receive(t, "srt://:"+port+"?mode=listener")
	p := wrapped(t, "--stats 200ms --stats-format json --stats-out "+file, "ffmpeg -nostdin -v error -re -i "+bench.short+" -c copy -f mpegts srt://127.0.0.1:"+port)
	if code := p.Code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	text, err := os.ReadFile(file)
	if n := bytes.Count(text, []byte("\n")); err != nil || n < 4 || !bytes.Contains(text, []byte(`"pktSentTotal"`)) {
		t.Errorf("%v: %d lines: %.200s", err, n, text)
	}
}

// terminal opens a pseudo-terminal.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}

// At a terminal the keyboard is ffmpeg's: q ends it well, Ctrl-C as without
// weirline.
func TestExecAtATerminal(t *testing.T) {
	for key, want := range map[string]int{"q": 0, "\x03": 255} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			t.Parallel()
			port := strconv.Itoa(port.Free(t))
			got := receive(t, "srt://:"+port+"?mode=listener")
			keyboard, tty := terminal(t)
			go func() { // what is shown must be read
				buf := make([]byte, 4096)
				for {
					if _, err := keyboard.Read(buf); err != nil {
						return
					}
				}
			}()
			argv := wrapping("", "ffmpeg -re -stream_loop 20 -i "+bench.short+" -map 0 -c copy -f mpegts srt://127.0.0.1:"+port)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(proctest.Patience, func() { cmd.Process.Kill() })
			defer kill.Stop()
			proctest.Eventually(t, "no media comes", func() bool { return got.bytes() > 50000 })
			if _, err := keyboard.Write([]byte(key)); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("exit code %d (%v), want %d", code, cmd.ProcessState, want)
			}
		})
	}
}
