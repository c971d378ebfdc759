package ffmpeg

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// frames are the hashes of the packets of each elementary stream of a file, in
// their order: what a demuxer makes of it, without the times.
type frames map[string][]string

// framesOf reads a file; one without any media has no frames.
func framesOf(t *testing.T, file string) frames {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", file, "-map", "0", "-c", "copy", "-f", "framemd5", "-").Output()
	f := frames{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(line, ",")
		if len(fields) < 6 || line[0] == '#' {
			continue
		}
		stream := strings.TrimSpace(fields[0])
		f[stream] = append(f[stream], strings.TrimSpace(fields[5]))
	}
	if err != nil && len(f) > 0 {
		t.Logf("ffmpeg on %s: %v", file, err)
	}
	return f
}

// clipFrames are a clip's, read once.
var clipFrames = struct {
	sync.Mutex
	of map[string]frames
}{of: map[string]frames{}}

func framesOfClip(t *testing.T, clip string) frames {
	t.Helper()
	clipFrames.Lock()
	defer clipFrames.Unlock()
	if clipFrames.of[clip] == nil {
		clipFrames.of[clip] = framesOf(t, clip)
	}
	return clipFrames.of[clip]
}

// all says how much of want is there: 1 if everything is, in its order. Frames
// that want does not have, or out of their order, are strangers.
func (f frames) compare(want frames) (share float64, strangers int) {
	found, total := 0, 0
	for s, list := range want {
		total += len(list)
		at := 0
		for _, h := range f[s] {
			next := at
			for next < len(list) && list[next] != h {
				next++
			}
			if next == len(list) {
				strangers++
				continue
			}
			at = next + 1
			found++
		}
	}
	for s := range f {
		if want[s] == nil {
			strangers += len(f[s])
		}
	}
	if total == 0 {
		return 0, strangers
	}
	return float64(found) / float64(total), strangers
}

// wantAll complains unless f is exactly want.
func (f frames) wantAll(t *testing.T, what string, want frames) {
	t.Helper()
	if share, strangers := f.compare(want); share != 1 || strangers != 0 {
		t.Errorf("%s: %.1f %% of the frames, and %d that are not the source's", what, 100*share, strangers)
	}
}

// wantPart wants at least a share, and hardly a stranger: where a stream was cut,
// one frame of each elementary stream may be in pieces.
func (f frames) wantPart(t *testing.T, what string, want frames, least float64, cuts int) {
	t.Helper()
	if share, strangers := f.compare(want); share < least || strangers > 2*cuts {
		t.Errorf("%s: %.1f %% of the frames, want %.0f %%; and %d that are not the source's, want at most %d", what, 100*share, 100*least, strangers, 2*cuts)
	}
}

// lastOf reports whether the last frame of each stream of want is there.
func (f frames) wantEnd(t *testing.T, what string, want frames) {
	t.Helper()
	for s, list := range want {
		if n := len(f[s]); n == 0 || f[s][n-1] != list[len(list)-1] {
			t.Errorf("%s: the last frame of stream %s is missing", what, s)
		}
	}
}
