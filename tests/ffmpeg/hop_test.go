package ffmpeg

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// hop is a local form between ffmpeg and the sidecar.
type hop struct {
	name string
	// open starts the sidecar for an SRT address and returns what ffmpeg opens.
	send, receive func(t *testing.T, srt string) (local string, side *sidecar)
}

// sidecar is the program between, and its pipe if ffmpeg talks to it by one.
type sidecar struct {
	*proctest.Process
	in  io.Reader // of ffmpeg
	out io.Writer
	// shut closes the test's own ends of a pipe once both programs have theirs.
	shut func()
	http bool
	// attached reports whether ffmpeg is there to receive; nil: it may come late.
	attached func() bool
}

var hops = []hop{
	{"http", httpHop, httpHop},
	{"unix", unixHop(true), unixHop(false)},
	{"tcp", tcpHop(true), tcpHop(false)},
	{"udp", udpSend, udpReceive},
	{"pipe", pipeSend, pipeReceive},
}

func httpHop(t *testing.T, srt string) (string, *sidecar) {
	port := strconv.Itoa(port.Free(t))
	p := weirline(t, "serve", "--listen", "127.0.0.1:"+port)
	proctest.WaitBound(t, "tcp", port)
	return "http://weirline@127.0.0.1:" + port + "/" + srt, &sidecar{Process: p, http: true}
}

func relay(t *testing.T, sends bool, local, srt string) *sidecar {
	if sends {
		return &sidecar{Process: weirline(t, "relay", local, srt)}
	}
	return &sidecar{Process: weirline(t, "relay", srt, local)}
}

func unixHop(sends bool) func(*testing.T, string) (string, *sidecar) {
	return func(t *testing.T, srt string) (string, *sidecar) {
		dir, err := os.MkdirTemp(bench.dir, "u") // a socket's path must be short
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "s")
		local := "unix:" + path
		if !sends {
			local += "?listen=1"
		}
		s := relay(t, sends, local, srt)
		proctest.Eventually(t, "no unix socket", func() bool { _, err := os.Stat(path); return err == nil || !s.Running() })
		s.attached = s.hasOutput
		return "unix:" + path, s
	}
}

func tcpHop(sends bool) func(*testing.T, string) (string, *sidecar) {
	return func(t *testing.T, srt string) (string, *sidecar) {
		port := strconv.Itoa(port.Free(t))
		local := "tcp://127.0.0.1:" + port
		if !sends {
			local += "?listen=1"
		}
		s := relay(t, sends, local, srt)
		proctest.Eventually(t, "no tcp socket", func() bool { return proctest.Bound("tcp", port) || !s.Running() })
		s.attached = s.hasOutput
		return "tcp://127.0.0.1:" + port, s
	}
}

func udpSend(t *testing.T, srt string) (string, *sidecar) {
	port := strconv.Itoa(port.Free(t))
	s := relay(t, true, "udp://127.0.0.1:"+port, srt)
	proctest.Eventually(t, "no udp socket", func() bool { return proctest.Bound("udp", port) || !s.Running() })
	return "udp://127.0.0.1:" + port + "?pkt_size=1316", s
}

// An input by UDP has no end: the time-out is one.
func udpReceive(t *testing.T, srt string) (string, *sidecar) {
	port := strconv.Itoa(port.Free(t))
	s := relay(t, false, "udp://127.0.0.1:"+port, srt)
	s.attached = func() bool { return proctest.Bound("udp", port) }
	return "udp://127.0.0.1:" + port + "?timeout=3000000", s
}

func (s *sidecar) hasOutput() bool { return strings.Contains(s.Said.String(), "output up") }

func pipe(t *testing.T) (r, w *os.File, shut func()) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w, func() { r.Close(); w.Close() }
}

func pipeSend(t *testing.T, srt string) (string, *sidecar) {
	r, w, shut := pipe(t)
	return "pipe:1", &sidecar{Process: start(t, r, nil, bench.weirline, "relay", "-", srt), out: w, shut: shut}
}

func pipeReceive(t *testing.T, srt string) (string, *sidecar) {
	r, w, shut := pipe(t)
	return "pipe:0", &sidecar{Process: start(t, nil, w, bench.weirline, "relay", srt, "-"), in: r, shut: shut}
}

// encoder runs ffmpeg towards a sidecar.
func (s *sidecar) encoder(t *testing.T, clip, local string) *proctest.Process {
	t.Helper()
	p := start(t, nil, s.out, append(words("ffmpeg -nostdin -v error -y -re -i "+clip+" -map 0 -c copy "+flatOut), local)...)
	if s.shut != nil {
		s.shut()
	}
	return p
}

// recorder runs ffmpeg from a sidecar into a file.
func (s *sidecar) recorder(t *testing.T, local string) (p *proctest.Process, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "rec.ts")
	argv := append(words("ffmpeg -nostdin -v error -y "+fastIn+"-f mpegts -i"), local)
	p = start(t, s.in, nil, append(argv, words("-map 0 -c copy -flush_packets 1 -f mpegts "+file)...)...)
	if s.shut != nil {
		s.shut()
	}
	if s.attached != nil {
		proctest.Eventually(t, "ffmpeg does not open its input", func() bool { return s.attached() || !p.Running() || !s.Running() })
	}
	return p, file
}

// stop asks it to end and returns its exit code.
func (s *sidecar) stop() int {
	s.T.Helper()
	s.Signal(syscall.SIGTERM)
	return s.Code()
}
