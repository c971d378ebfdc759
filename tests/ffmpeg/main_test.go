package ffmpeg

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// bench is what all tests share.
var bench struct {
	dir, weirline string
	short, long   string // clips of 2 and of 6 seconds
}

// parallel is how many runs go on at a time: each spends nearly all its time
// waiting for the next frame to be due.
const parallel = "10"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(bench.dir)
	return m.Run()
}

func prepare() (err error) {
	if err := flag.Set("test.parallel", parallel); err != nil {
		return err
	}
	if bench.dir, err = os.MkdirTemp("", "weirline-ffmpeg-"); err != nil {
		return err
	}
	if out, err := exec.Command("ffmpeg", "-hide_banner", "-protocols").Output(); err != nil || !containsWord(out, "srt") {
		return fmt.Errorf("ffmpeg with SRT does not run here; install the package ffmpeg (make deps): %v", err)
	}
	bench.weirline = filepath.Join(bench.dir, "weirline")
	build := exec.Command("go", "build", "-o", bench.weirline, "../../sidecar/cmd/weirline")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building weirline: %v\n%s", err, out)
	}
	if bench.short, err = makeClip("short.ts", 2); err != nil {
		return err
	}
	bench.long, err = makeClip("long.ts", 6)
	return err
}

// makeClip encodes some seconds of test pattern and tone.
func makeClip(name string, seconds int) (string, error) {
	path := filepath.Join(bench.dir, name)
	out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25",
		"-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000", "-t", strconv.Itoa(seconds),
		"-map", "0", "-map", "1", "-c:v", "mpeg2video", "-b:v", "1M", "-g", "12", "-bf", "0", "-c:a", "mp2", "-f", "mpegts", path).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("making a clip: %v\n%s", err, out)
	}
	return path, nil
}
