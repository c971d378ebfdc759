package ffproto

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// examples builds the programs, once for all tests, and returns their folder.
var examples = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(filepath.Dir(clip), "examples")
	cmd := exec.Command("go", "build", "-o", dir+"/", "./examples/ff-remux", "./examples/ff-record", "./examples/ff-transcode")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return dir, nil
})

func start(t *testing.T, name string, args ...string) *proctest.Process {
	t.Helper()
	dir, err := examples()
	if err != nil {
		t.Fatal(err)
	}
	return proctest.Start(t, proctest.Program{Args: append([]string{filepath.Join(dir, name)}, args...), SayAll: true})
}

const example = "srt://127.0.0.1:%d?mode=%s&latency=200&tlpktdrop=0&passphrase=0123456789abcdef"

// File to SRT to file: the content is the same.
func TestExamplesRemuxAndRecord(t *testing.T) {
	port, file := port.Free(t), filepath.Join(t.TempDir(), "out.ts")
	r := start(t, "ff-record", fmt.Sprintf(example, port, "listener"), file)
	s := start(t, "ff-remux", clip, fmt.Sprintf(example, port, "caller"))
	s.WantCode(0)
	r.WantCode(0)
	if !strings.Contains(r.Said.String(), " 0 lost, 0 dropped") {
		t.Errorf("statistics: %q", r.Said.String())
	}
	got, err := demux(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, got, original(t))
}

// The relay's pictures are new and all there; the sound is the same.
func TestExampleTranscode(t *testing.T) {
	front, back, file := port.Free(t), port.Free(t), filepath.Join(t.TempDir(), "out.ts")
	r := start(t, "ff-record", fmt.Sprintf(example, back, "listener"), file)
	m := start(t, "ff-transcode", fmt.Sprintf(example, front, "listener"), fmt.Sprintf(example, back, "caller"))
	s := start(t, "ff-remux", clip, fmt.Sprintf(example, front, "caller"))
	for _, p := range []*proctest.Process{s, m, r} {
		p.WantCode(0)
	}
	packets, err := demux(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	got, want := perStream(packets), perStream(original(t))
	if len(got) != 2 || len(got[0]) != len(want[0]) || len(got[1]) != len(want[1]) {
		t.Fatalf("%d streams of %d and %d packets, want 2 of %d and %d", len(got), len(got[0]), len(got[1]), len(want[0]), len(want[1]))
	}
	again := 0
	for i := range want[0] {
		if got[0][i].sum == want[0][i].sum {
			again++
		}
	}
	if again > 0 {
		t.Errorf("%d of %d pictures were not encoded anew", again, len(want[0]))
	}
	for i := range want[1] {
		if got[1][i].sum != want[1][i].sum {
			t.Fatalf("sound: packet %d differs", i)
		}
	}
	out, err := exec.Command("ffmpeg", "-v", "error", "-xerror", "-i", file, "-f", "null", "-").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("ffmpeg cannot decode it: %v\n%s", err, out)
	}
}

// Errors have reasons, and ^C ends a program that waits.
func TestExamplesEnd(t *testing.T) {
	absent := fmt.Sprintf("srt://127.0.0.1:%d?conntimeo=200", port.Free(t))
	s := start(t, "ff-remux", clip, absent)
	if err := s.Wait(proctest.Patience); err == nil || !strings.Contains(s.Said.String(), "check that a listener runs there") {
		t.Errorf("%v: %v, %q", s.Cmd.Args, err, s.Said.String())
	}
	port := port.Free(t)
	r := start(t, "ff-record", fmt.Sprintf("srt://127.0.0.1:%d?mode=listener", port), filepath.Join(t.TempDir(), "out.ts"))
	proctest.WaitBound(t, "udp", port)
	r.Signal(os.Interrupt)
	r.WantCode(0)
}
