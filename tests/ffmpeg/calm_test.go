package ffmpeg

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// outage is one time without the far peer.
type outage struct {
	how string // stop (it hangs), leave, kill
	d   time.Duration
}

// hangs: the same peer stands still and goes on. leaves: another takes its place.
var (
	hangs = []outage{
		{"stop", 500 * time.Millisecond}, {"stop", time.Second}, {"stop", 2 * time.Second},
		{"stop", 4 * time.Second}, {"stop", 8 * time.Second},
	}
	leaves = []outage{
		{"leave", 500 * time.Millisecond}, {"leave", time.Second}, {"kill", 2 * time.Second},
		{"leave", 4 * time.Second}, {"kill", 8 * time.Second},
	}
)

// TestEncoderIsCalm: whatever the far peer does, ffmpeg goes on at its pace and
// nobody's memory grows; and the peer has media again within a second.
func TestEncoderIsCalm(t *testing.T) {
	for name, c := range map[string]struct {
		way     string
		outages []outage
	}{
		"exec-hangs": {"exec", hangs}, "exec-leaves": {"exec", leaves},
		"http-leaves": {"http", leaves}, "unix-hangs": {"unix", hangs},
	} {
		if testing.Short() {
			if c.way != "exec" {
				continue
			}
			c.outages = c.outages[:3]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suffer(t, c.way, c.outages)
		})
	}
}

func suffer(t *testing.T, way string, list []outage) {
	c := startCalm(t, way)
	c.rest(2 * time.Second)
	before := c.memory()
	for _, o := range list {
		c.suffer(o)
		c.rest(1500 * time.Millisecond)
	}
	c.wantFlat(before)
	c.encoder.Signal(syscall.SIGINT)
	c.encoder.WantCode(255)
	if c.side != nil {
		if code := c.side.stop(); code != 0 {
			t.Errorf("the sidecar's exit code: %d", code)
		}
	}
	c.progress.wantSteady(t)
}

// rest lets media flow, and wants it to: what was on its way when a peer stood
// still comes at once, and says nothing of the connection.
func (c *calm) rest(d time.Duration) {
	c.t.Helper()
	time.Sleep(d / 2)
	had := c.viewer.size()
	time.Sleep(d / 2)
	if c.viewer.size() == had {
		c.t.Error("media does not go on coming")
	}
}

// calm is an encoder and its far peer.
type calm struct {
	t        *testing.T
	encoder  *proctest.Process
	side     *sidecar
	progress *progress
	far      string
	viewer   viewer
}

const encoding = "ffmpeg -nostdin -v error -y -re -f lavfi -i testsrc2=size=320x180:rate=50 -c:v mpeg2video -b:v 1M -g 25 -progress pipe:1 -stats_period 0.02 "

func startCalm(t *testing.T, way string) *calm {
	t.Helper()
	port := strconv.Itoa(port.Free(t))
	c := &calm{t: t, far: "srt://:" + port + "?mode=listener", progress: newProgress(t)}
	c.viewer = newViewer(t, c.far)
	proctest.WaitBound(t, "udp", port)
	near := "srt://127.0.0.1:" + port + "?peeridletimeo=1000"
	argv := wrapping("", encoding+flatOut+near)
	for _, h := range hops {
		if h.name == way {
			local := ""
			local, c.side = h.send(t, near)
			argv = append(words(encoding+flatOut), local)
		}
	}
	c.encoder = start(t, nil, c.progress.w, argv...)
	c.progress.w.Close()
	c.viewer.wantFirstData(10 * time.Second)
	c.progress.watch(c.ffmpeg())
	return c
}

// suffer takes the far peer away for a while and wants media back soon after.
func (c *calm) suffer(o outage) {
	c.t.Helper()
	old := c.viewer
	if o.how == "stop" {
		old.Signal(syscall.SIGSTOP)
		begun := time.Now()
		time.Sleep(o.d)
		old.Signal(syscall.SIGCONT)
		c.wantMedia(old, old.size(), begun, o)
		return
	}
	begun := time.Now()
	if o.how == "leave" {
		old.leave()
	} else {
		old.Kill()
	}
	time.Sleep(time.Until(begun.Add(o.d)))
	c.viewer = newViewer(c.t, c.far)
	c.wantMedia(c.viewer, 0, begun, o)
}

func (c *calm) wantMedia(v viewer, had int64, begun time.Time, o outage) {
	c.t.Helper()
	proctest.Eventually(c.t, "no media after "+o.how, func() bool { return v.size() > had })
	gap := time.Since(begun)
	c.t.Logf("%s for %v: media again after %v", o.how, o.d, gap.Round(time.Millisecond))
	if gap > o.d+time.Second {
		c.t.Errorf("%s for %v: media again after %v, want a second at most beyond the outage", o.how, o.d, gap)
	}
}

// memory is what the programs have, MiB: ffmpeg's, and the sidecar's.
func (c *calm) memory() [2]float64 {
	side := c.encoder
	if c.side != nil {
		side = c.side.Process
	}
	return [2]float64{rss(c.ffmpeg()), rss(side.Pid())}
}

// ffmpeg is the encoder's process: what was started, or a child of weirline exec.
func (c *calm) ffmpeg() int {
	pid := c.encoder.Pid()
	if c.side != nil {
		return pid
	}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // a child is its thread's
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, f := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(f)
			return child
		}
	}
	return 0
}

func rss(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(f[1])
	return float64(pages) * float64(os.Getpagesize()) / (1 << 20)
}

func (c *calm) wantFlat(before [2]float64) {
	c.t.Helper()
	after := c.memory()
	c.t.Logf("memory, MiB: ffmpeg %.1f, then %.1f; sidecar %.1f, then %.1f", before[0], after[0], before[1], after[1])
	for i, most := range []float64{4, 10} {
		if before[i] == 0 || after[i]-before[i] > most {
			c.t.Errorf("memory grew from %.1f to %.1f MiB", before[i], after[i])
		}
	}
}
