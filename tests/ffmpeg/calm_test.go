package ffmpeg

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// maxPause is how long an encoder may seem to stand still: frames are 20 ms
// apart, and what ffmpeg says of its progress is 20 ms old.
const maxPause = 100 * time.Millisecond

// outage is one time without the far peer.
type outage struct {
	how string // stop (it hangs), leave, kill
	d   time.Duration
}

var outages = []outage{
	{"stop", 500 * time.Millisecond}, {"leave", time.Second}, {"kill", 2 * time.Second},
	{"leave", 4 * time.Second}, {"kill", 8 * time.Second},
}

// TestEncoderIsCalm: whatever the far peer does, ffmpeg goes on at its pace and
// nobody's memory grows; and the peer has media again within a second.
func TestEncoderIsCalm(t *testing.T) {
	list, ways := outages, []string{"exec", "http", "unix"}
	if testing.Short() {
		list, ways = outages[:3], ways[:1]
	}
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := startCalm(t, way)
			time.Sleep(2 * time.Second)
			before := c.memory()
			for _, o := range list {
				c.suffer(o)
				time.Sleep(1500 * time.Millisecond)
			}
			c.wantFlat(before)
			c.encoder.signal(syscall.SIGINT)
			wantCode(t, c.encoder, 255)
			if c.side != nil {
				if code := c.side.stop(); code != 0 {
					t.Errorf("the sidecar's exit code: %d", code)
				}
			}
			c.progress.wantSteady(t, c.control)
		})
	}
}

// calm is an encoder and its far peer.
type calm struct {
	t                 *testing.T
	encoder, reporter *process
	side              *sidecar
	progress, control *progress
	far               string
	viewer            viewer
}

const encoding = "ffmpeg -nostdin -v error -y -re -f lavfi -i testsrc2=size=320x180:rate=50 -c:v mpeg2video -b:v 1M -g 25 -progress pipe:1 -stats_period 0.02 "

func startCalm(t *testing.T, way string) *calm {
	t.Helper()
	port := freePort(t)
	c := &calm{t: t, far: "srt://:" + port + "?mode=listener", progress: newProgress(t), control: newProgress(t)}
	c.viewer = newViewer(t, c.far)
	waitBound(t, "udp", port)
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
	// The same without SRT, for what the machine itself does.
	c.reporter = start(t, nil, c.control.w, words(encoding+flatOut+"/dev/null")...)
	c.progress.w.Close()
	c.control.w.Close()
	c.viewer.wantFirstData(10 * time.Second)
	return c
}

// suffer takes the far peer away for a while and wants media back soon after.
func (c *calm) suffer(o outage) {
	c.t.Helper()
	old := c.viewer
	if o.how == "stop" {
		old.signal(syscall.SIGSTOP)
		begun := time.Now()
		time.Sleep(o.d)
		old.signal(syscall.SIGCONT)
		c.wantMedia(old, old.size(), begun, o)
		return
	}
	begun := time.Now()
	if o.how == "leave" {
		old.leave()
	} else {
		old.kill()
	}
	time.Sleep(time.Until(begun.Add(o.d)))
	c.viewer = newViewer(c.t, c.far)
	c.wantMedia(c.viewer, 0, begun, o)
}

func (c *calm) wantMedia(v viewer, had int64, begun time.Time, o outage) {
	c.t.Helper()
	eventually(c.t, "no media after "+o.how, func() bool { return v.size() > had })
	gap := time.Since(begun)
	c.t.Logf("%s for %v: media again after %v", o.how, o.d, gap.Round(time.Millisecond))
	if gap > o.d+time.Second {
		c.t.Errorf("%s for %v: media again after %v, want a second at most beyond the outage", o.how, o.d, gap)
	}
}

// memory is what the programs have, MiB: ffmpeg's, and the sidecar's.
func (c *calm) memory() [2]float64 {
	if c.side != nil {
		return [2]float64{rss(c.encoder.cmd.Process.Pid), rss(c.side.cmd.Process.Pid)}
	}
	pid := c.encoder.cmd.Process.Pid
	return [2]float64{rssOfChildren(pid), rss(pid)}
}

// rssOfChildren: a child belongs to the thread that started it.
func rssOfChildren(pid int) (sum float64) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, f := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(f)
			sum += rss(child)
		}
	}
	return sum
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

// progress follows what ffmpeg writes for -progress.
type progress struct {
	w    *os.File
	done chan struct{}

	mu     sync.Mutex
	pauses []time.Duration // the longest ones
	steps  int
}

func newProgress(t *testing.T) *progress {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &progress{w: w, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer r.Close()
		p.follow(r)
	}()
	t.Cleanup(func() { w.Close() })
	return p
}

func (p *progress) follow(r io.Reader) {
	var last time.Time
	frame := 0
	for lines := bufio.NewScanner(r); lines.Scan(); {
		n, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "frame="))
		if err != nil || n <= frame {
			continue
		}
		now := time.Now()
		p.mu.Lock()
		if p.steps++; p.steps > 10 { // it fills its buffers first
			p.pauses = append(p.pauses, now.Sub(last))
		}
		p.mu.Unlock()
		frame, last = n, now
	}
}

func (p *progress) longest() (d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range p.pauses {
		d = max(d, v)
	}
	return d
}

// wantSteady bounds the pauses. Where the machine held up an encoder that has
// nothing to do with SRT for as long, it proves nothing.
func (p *progress) wantSteady(t *testing.T, control *progress) {
	t.Helper()
	longest, machine := p.longest(), control.longest()
	t.Logf("longest pause of the encoder %v, of one beside it that writes to /dev/null %v, %d steps", longest.Round(time.Millisecond), machine.Round(time.Millisecond), p.steps)
	if p.steps < 100 {
		t.Errorf("only %d steps of progress", p.steps)
	}
	if longest > maxPause && longest > machine+maxPause/2 {
		t.Errorf("the encoder paused for %v, want at most %v", longest, maxPause)
	}
}
