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

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// wrapped runs a command line by weirline exec.
func wrapped(t *testing.T, flags, line string) *proctest.Process {
	t.Helper()
	return start(t, nil, nil, wrapping(flags, line)...)
}

func wrapping(flags, line string) []string {
	return append(append(append([]string{bench.weirline, "exec"}, words(flags)...), "--"), words(line)...)
}

// viewer is a program of its own that receives into a file, so that it can be
// killed.
type viewer struct {
	*proctest.Process
	file string
}

func newViewer(t *testing.T, url string) viewer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "got.ts")
	return viewer{weirline(t, "relay", "--log-level", "warn", url, "file://"+file), file}
}

// size is how much it has so far.
func (v viewer) size() int64 { return sizeOf(v.file) }

func sizeOf(file string) int64 {
	st, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return st.Size()
}

// wantFirstData waits for media and complains if that takes longer than d.
func (v viewer) wantFirstData(d time.Duration) {
	v.T.Helper()
	begun := time.Now()
	proctest.Eventually(v.T, "no media comes", func() bool { return v.size() > 0 })
	if took := time.Since(begun); took > d {
		v.T.Errorf("the first media comes after %v, want at most %v", took, d)
	}
}

// leave ends it as one that says goodbye.
func (v viewer) leave() {
	v.T.Helper()
	v.Signal(syscall.SIGTERM)
	v.Code()
}

// A far listener that is restarted in the middle: the same ffmpeg goes on, and
// what comes before and after is the source's.
func TestExecSurvivesARestartOfItsPeer(t *testing.T) {
	for _, how := range []string{"goodbye", "killed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			port := strconv.Itoa(port.Free(t))
			far := "srt://:" + port + "?mode=listener&peeridletimeo=1000"
			first := newViewer(t, far)
			proctest.WaitBound(t, "udp", port)
			p := wrapped(t, "", "ffmpeg -nostdin -v error -re -i "+bench.long+" -map 0 -c copy "+flatOut+"srt://127.0.0.1:"+port+"?peeridletimeo=1000")
			first.wantFirstData(3 * time.Second)
			p.WantRunning(time.Second)
			if how == "killed" {
				first.Kill()
			} else {
				first.leave()
			}
			p.WantRunning(500 * time.Millisecond)
			second := newViewer(t, far)
			if code := p.Code(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			proctest.Eventually(t, "the second viewer's connection does not end", func() bool { return settled(second) })
			second.leave()
			want := framesOfClip(t, bench.long)
			framesOf(t, first.file).wantPart(t, "before", want, 0.1, 1)
			after := framesOf(t, second.file)
			after.wantPart(t, "after", want, 0.25, 1)
			after.wantEnd(t, "after", want)
		})
	}
}

// settled: nothing has come for a while.
func settled(v viewer) bool {
	before := v.size()
	time.Sleep(300 * time.Millisecond)
	return before > 0 && v.size() == before
}

// Viewers come and go at a listening output; ffmpeg stays (C23).
func TestExecViewersComeAndGo(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(port.Free(t))
	p := wrapped(t, "", "ffmpeg -nostdin -v error -re -stream_loop 20 -i "+bench.short+" -map 0 -c copy -f mpegts srt://:"+port+"?mode=listener&peeridletimeo=1500")
	proctest.WaitBound(t, "udp", port)
	rounds := 5
	if testing.Short() {
		rounds = 2
	}
	for i := range rounds {
		v := newViewer(t, "srt://127.0.0.1:"+port)
		v.wantFirstData(1500 * time.Millisecond)
		if i == 1 {
			other := newViewer(t, "srt://127.0.0.1:"+port)
			other.wantFirstData(1500 * time.Millisecond)
			other.leave()
			if _, strangers := framesOf(t, other.file).compare(framesOfClip(t, bench.short)); strangers > 4 {
				t.Errorf("two at once: %d frames that are not the source's", strangers)
			}
		}
		p.WantRunning(400 * time.Millisecond)
		if i%2 == 1 {
			v.Kill()
		} else {
			v.leave()
		}
		p.WantRunning(300 * time.Millisecond)
	}
	p.Signal(syscall.SIGINT)
	if code := p.Code(); code != 255 {
		t.Errorf("exit code %d, want ffmpeg's 255", code)
	}
}

// A sender that is restarted: the recording goes on in the same file.
func TestExecInputSurvivesARestartOfItsSender(t *testing.T) {
	t.Parallel()
	port, dir := strconv.Itoa(port.Free(t)), t.TempDir()
	out := filepath.Join(dir, "out.ts")
	p := wrapped(t, "", "ffmpeg -nostdin -v error "+fastIn+"-i srt://:"+port+"?mode=listener -map 0 -c copy -f mpegts "+out)
	proctest.WaitBound(t, "udp", port)
	for range 2 {
		s := send(t, "srt://127.0.0.1:"+port, bench.short, 2)
		s.done()
		p.WantRunning(700 * time.Millisecond)
	}
	p.Signal(syscall.SIGINT) // in the middle of a wait for media
	if code := p.Code(); code != 255 {
		t.Errorf("exit code %d, want ffmpeg's 255", code)
	}
	clip := framesOfClip(t, bench.short)
	twice := frames{}
	for s, list := range clip {
		twice[s] = append(append(twice[s], list...), list...)
	}
	framesOf(t, out).wantPart(t, "both", twice, 0.95, 1)
}

// Nobody for too long: exit code 5, whatever the program says.
func TestExecGivesUp(t *testing.T) {
	in := "ffmpeg -nostdin -v error -i srt://:{p}?mode=listener -c copy -f null -"
	out := "ffmpeg -nostdin -v error -re -stream_loop 20 -i " + bench.short + " -c copy -f mpegts srt://127.0.0.1:{p}"
	t.Run("input", func(t *testing.T) {
		t.Parallel()
		p := wrapped(t, "--timeout 500ms", strings.ReplaceAll(in, "{p}", strconv.Itoa(port.Free(t))))
		if code := p.Code(); code != 5 {
			t.Errorf("exit code %d, want 5", code)
		}
	})
	t.Run("output", func(t *testing.T) {
		t.Parallel()
		port := strconv.Itoa(port.Free(t))
		v := newViewer(t, "srt://:"+port+"?mode=listener")
		proctest.WaitBound(t, "udp", port)
		p := wrapped(t, "--timeout 500ms", strings.ReplaceAll(out, "{p}", port))
		v.wantFirstData(3 * time.Second)
		v.leave()
		if code := p.Code(); code != 5 {
			t.Errorf("exit code %d, want 5", code)
		}
	})
}

// What is still on its way when ffmpeg ends is delivered (C16), in the time that
// the latency takes.
func TestExecDeliversTheTail(t *testing.T) {
	for _, ms := range []int{120, 500, 2000} {
		t.Run(fmt.Sprint(ms), func(t *testing.T) {
			t.Parallel()
			port := strconv.Itoa(port.Free(t))
			got := receive(t, "srt://:"+port+"?mode=listener")
			begun := time.Now()
			p := wrapped(t, "", fmt.Sprintf("ffmpeg -nostdin -v error -re -i %s -map 0 -c copy -f mpegts -latency %d srt://127.0.0.1:%s", bench.short, ms*1000, port))
			if code := p.Code(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if took, most := time.Since(begun), 2*time.Second+time.Duration(ms)*time.Millisecond+1500*time.Millisecond; took > most {
				t.Errorf("it took %v, want at most %v", took, most)
			}
			framesOf(t, got.file()).wantAll(t, "received", framesOfClip(t, bench.short))
		})
	}
}

// If the peer is gone at the end and stays away, the exit code says so although
// ffmpeg has seen nothing wrong.
func TestExecSaysThatTheEndWasNotDelivered(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(port.Free(t))
	v := newViewer(t, "srt://:"+port+"?mode=listener")
	proctest.WaitBound(t, "udp", port)
	p := wrapped(t, "", "ffmpeg -nostdin -v error -re -i "+bench.short+" -c copy -f mpegts srt://127.0.0.1:"+port)
	v.wantFirstData(3 * time.Second)
	v.leave()
	if code := p.Code(); code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
}

func TestExecPrints(t *testing.T) {
	argv := wrapping("--print", "ffmpeg -i 'a b.ts' -f mpegts -passphrase 0123456789 srt://h:1?latency=200")
	cmd := exec.Command(argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if want := "ffmpeg -i 'a b.ts' -f mpegts http://weirline@127.0.0.1:PORT/SECRET/0\n"; err != nil || string(out) != want {
		t.Errorf("%v, printed %q, want %q", err, out, want)
	}
	if s := said.String(); !strings.Contains(s, "microseconds") || !strings.Contains(s, "srt://h:1?mode=caller") || strings.Contains(s, "0123456789") {
		t.Errorf("it says %q", s)
	}
}
