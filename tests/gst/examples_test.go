package gst

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// readmeLines are the gst-launch-1.0 lines of the README with our elements.
func readmeLines(t *testing.T) (out []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	joined := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(string(text), "")
	for line := range strings.Lines(joined) {
		if strings.HasPrefix(line, "gst-launch-1.0 ") && strings.Contains(line, "srtgo") {
			line, _, _ = strings.Cut(line, "      #")
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// TestReadmeLines runs the README's lines, as the shell does, in the pairs in
// which they stand there. Screen and decoder are replaced by the standard output,
// the port by a free one, the files by others.
func TestReadmeLines(t *testing.T) {
	needGStreamer(t)
	proctest.Need(t, "gstreamer1.0-plugins-ugly", "gst-inspect-1.0", "--exists", "x264enc")
	lines := readmeLines(t)
	if len(lines) != 6 {
		t.Fatalf("the README has %d lines with our elements, this test knows 6: %q", len(lines), lines)
	}
	video := liveVideo(t)
	for i := 0; i < len(lines); i += 2 {
		t.Run(itoa(i+1)+" and "+itoa(i+2), func(t *testing.T) {
			t.Parallel()
			port, dir := port.Free(t), t.TempDir()
			run := func(line string) (*proctest.Process, *collector) {
				out := newCollector()
				words := strings.NewReplacer("gst-launch-1.0 ", "exec gst-launch-1.0 -q --no-fault ", "7001", itoa(port), "9000", itoa(port),
					"avdec_h264 ! ", "", "decodebin ! autovideosink", dump, "autovideosink", dump,
					"filesrc location=in.ts", "filesrc location="+video, "filesink location=in.ts", "filesink buffer-mode=unbuffered location="+filepath.Join(dir, "out.ts"))
				return start(t, out, "bash", "-c", words.Replace(line)), out
			}
			// Who listens stands first, but for the last of the pairs of live lines.
			_, first := run(lines[i])
			proctest.WaitBound(t, "udp", port)
			send, second := run(lines[i+1])
			if strings.Contains(lines[i+1], "filesrc") {
				if err := send.Wait(proctest.Patience); err != nil {
					t.Fatalf("the sender ended with %v", err)
				}
				wantPieceOf(t, video, filepath.Join(dir, "out.ts"))
				return
			}
			proctest.Eventually(t, "nothing comes out", func() bool { return first.size()+second.size() > 20_000 })
		})
	}
}

// liveVideo is a file with three seconds of a picture in a transport stream.
func liveVideo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "video.ts")
	p := launch(t, nil, "videotestsrc num-buffers=90 ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! "+
		"x264enc tune=zerolatency key-int-max=15 ! mpegtsmux ! filesink location="+name)
	if err := p.Wait(proctest.Patience); err != nil {
		t.Fatal(err)
	}
	return name
}

// wantPieceOf wants most of a file's transport packets in another, in their order.
// tsparse, which paces them, needs the first ones to know the program, and fills up
// the last message with null packets.
func wantPieceOf(t *testing.T, sent, got string) {
	t.Helper()
	want, err := os.ReadFile(sent)
	if err != nil {
		t.Fatal(err)
	}
	var have []byte
	proctest.Eventually(t, "the received file stays short", func() bool {
		have = nil
		all, _ := os.ReadFile(got)
		for p := range slices.Chunk(all, tsPacket) {
			if !bytes.HasPrefix(p, []byte{0x47, 0x1F, 0xFF}) {
				have = append(have, p...)
			}
		}
		return len(have) > len(want)*9/10
	})
	wantPart(t, have, want, part{late: len(want) / 10, tail: len(want) / 10})
}

// TestGoExample runs examples/gst-loop: a file goes out and comes in, in one
// program with our elements in its own Go runtime.
func TestGoExample(t *testing.T) {
	needGStreamer(t)
	bin := filepath.Join(lab.dir, "gst-loop")
	if out, err := exec.Command("go", "build", "-o", bin, "../../examples/gst-loop").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	in, sent := writeInput(t, 6, 1500)
	copied := filepath.Join(t.TempDir(), "out.ts")
	if err := start(t, nil, bin, in, copied).Wait(proctest.Patience); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(copied)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came of %d (%v)", len(got), len(sent), err)
	}
}

// TestPythonExample runs examples/gst-python: it lets one caller in, refuses
// another, and prints statistics.
func TestPythonExample(t *testing.T) {
	needPython(t)
	port := port.Free(t)
	said := newCollector()
	start(t, said, python(), "../../examples/gst-python/callers.py", "127.0.0.1:"+itoa(port), "cam1")
	proctest.WaitBound(t, "udp", port)
	says := func(what string) {
		t.Helper()
		proctest.Eventually(t, "the example does not say "+what, func() bool { return bytes.Contains(said.bytes(), []byte(what)) })
	}
	got := newCollector()
	launch(t, got, ours.fill("{src} uri=srt://127.0.0.1:"+itoa(port)+"?streamid=cam1 ! "+dump))
	says("added 127.0.0.1:")
	says(" packets lost")
	proctest.Eventually(t, "cam1 gets nothing", func() bool { return got.size() > 20_000 })
	bad := launch(t, nil, ours.fill("{src} uri=srt://127.0.0.1:"+itoa(port)+"?streamid=cam2 ! "+dump))
	says("cam2")
	if err := bad.Wait(proctest.Patience); err == nil {
		t.Error("cam2 was not refused")
	}
}
