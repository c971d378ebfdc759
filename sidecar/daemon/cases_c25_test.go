package daemon

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/route"
)

// C25: one publisher of 4 Mbit/s with a keyframe of 1600 packets at once every
// second; eight players, one of them behind a link of 300 kbit/s and one whose
// process is stopped for three seconds, or until it is disconnected.
const (
	c25Rate    = 380  // messages a second
	c25Key     = 1600 // more at once, each second
	c25Seconds = 5
	c25Healthy = 6
	c25Stop    = 3 * time.Second // drops begin after one; after five the peer counts as dead
	c25Queue   = 2 << 20
	c25Latency = 2500 * time.Millisecond // of the healthy: a busy machine stands still for a second
	// Of the slow ones. With much less their receivers would skip what is missing
	// before the daemon does, and it would count nothing.
	c25Slow = time.Second
)

// Without a limit the slow ones stay, and the stopped one goes on where the stream
// is; with one they are disconnected, by it and as slow. The others never notice.
func TestC25SlowReaders(t *testing.T) {
	for _, c := range []struct {
		slowAfter string
		stay      bool
	}{{"0", true}, {"1500ms", false}} {
		t.Run("slow-after="+c.slowAfter, func(t *testing.T) {
			b := newBurst(t, c.slowAfter)
			var reading sync.WaitGroup
			var healthy [c25Healthy]audience
			for i := range healthy {
				p := b.from(b.address(), fmt.Sprint("healthy", i), c25Latency, 0)
				reading.Go(func() { healthy[i].watch(p, b.sent) })
			}
			link := b.thinLink(300_000)
			narrow := b.from(link.Addr(), "narrow", c25Slow, 0)
			var leaving sync.WaitGroup
			leaving.Go(func() { new(audience).watch(narrow, nil) })
			defer leaving.Wait()
			defer narrow.Abort() // the end of the stream may not get through to it
			stopped := b.process("stopped")
			b.up("a", c25Healthy+2)
			ids := []string{b.session("narrow").ID, b.session("stopped").ID}

			total := b.run(stopped, c.stay)
			b.wantFate(ids, c.stay)
			stopped.signal(t, syscall.SIGCONT)
			for i := range healthy {
				b.wantUntouched(fmt.Sprint("healthy", i), total)
			}
			b.end()
			got := stopped.wait(t)
			reading.Wait()
			for i, a := range healthy {
				if a.Err != "" || a.Got != total || a.Missing != 0 {
					t.Errorf("player %d: %d of %d messages, %d missing: %s", i, a.Got, total, a.Missing, a.Err)
				}
				if first, last := a.delay(); last-first > 500*time.Millisecond || first < 2*c25Latency {
					t.Errorf("player %d: a delay of %v in the first second, of %v in the last", i, first, last)
				}
			}
			if c.stay == (got.Err != "") || got.Altered != 0 || got.Got == 0 || c.stay && (got.Missing == 0 || got.Last != total-1) {
				t.Errorf("the stopped one: %+v of %d", got, total)
			}
		})
	}
}

// burst is the daemon and the publisher.
type burst struct {
	*rig
	publisher *srtcore.Conn
	sent      []atomic.Int64 // when, by number
	seen      map[string]uint64
	most      int // bytes that the daemon kept for one player
}

func newBurst(t *testing.T, slowAfter string) *burst {
	options := fmt.Sprintf("name: a, slow-after: %s, queue: %d,", slowAfter, c25Queue)
	b := &burst{
		rig:  newRig(t, "routes:\n"+strings.Replace(studio("a"), "name: a,", options, 1)),
		sent: make([]atomic.Int64, 2*c25Seconds*(c25Rate+c25Key)), seen: map[string]uint64{},
	}
	cfg := srtcore.DefaultConfig()
	cfg.StreamID, cfg.PeerLatency = "#!::r=a,m=publish", c25Latency
	c, err := srtcore.Dial(b.ctx, b.address(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Abort() })
	b.publisher = c
	return b
}

// from is a player; rcvBuf 0: the usual one.
func (r *rig) from(address, name string, latency time.Duration, rcvBuf int) *srtcore.Conn {
	r.t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.StreamID, cfg.RcvLatency = "#!::r=a,m=request,s="+name, latency
	if rcvBuf > 0 {
		cfg.UDPRcvBuf = rcvBuf
	}
	c, err := srtcore.Dial(r.ctx, address, &cfg)
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	r.t.Cleanup(func() { c.Abort() })
	return c
}

// run publishes, stops the process after a second, goes on with it if that is
// wanted, and looks at the counters all the while. It returns how many messages
// there were.
func (b *burst) run(p *playerProcess, goOn bool) (n int) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var stoppedAt time.Time
	for step := range c25Seconds * 100 {
		<-tick.C
		burst := c25Rate / 100
		if step%100 == 50 {
			burst += c25Key
		}
		for range burst {
			b.sent[n].Store(time.Now().UnixNano())
			if _, err := b.publisher.Write(message('a', n)); err != nil {
				b.t.Fatal(err)
			}
			n++
		}
		if step == 100 {
			p.signal(b.t, syscall.SIGSTOP)
			stoppedAt = time.Now()
		}
		if goOn && step > 100 && time.Since(stoppedAt) > c25Stop {
			goOn = false
			p.signal(b.t, syscall.SIGCONT)
		}
		if step%25 == 0 {
			b.look()
		}
	}
	return n
}

// look notes what was dropped for whom, and what is kept for one.
func (b *burst) look() {
	for _, s := range b.Routes()[0].Outputs[0].Sessions {
		b.seen[s.ID] = max(b.seen[s.ID], lost(s))
		b.most = max(b.most, s.Queue.QueuedBytes)
	}
}

func lost(s route.SessionSnapshot) uint64 { return s.Queue.Dropped + uint64(s.SRT.PktSndDropTotal) }

// end is the last message of the stream.
func (b *burst) end() {
	b.t.Helper()
	for range 3 { // whoever has just lost something may lose one more
		if _, err := b.publisher.Write(message('z', 0)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// wantFate: the slow ones, and nobody else, were dropped messages for, and with a
// limit disconnected by it, which is said; never was more kept than the queue may
// hold.
func (b *burst) wantFate(ids []string, stay bool) {
	b.t.Helper()
	gone := func() (gone []string) {
		all, _ := b.Events(0)
		for _, e := range all {
			if e.Kind == "slow" {
				gone = append(gone, strings.Fields(e.Text)[1])
			}
		}
		slices.Sort(gone)
		return gone
	}
	want := slices.Sorted(slices.Values(ids))
	if stay {
		want = nil
	} else {
		b.eventually("the slow ones to be disconnected", func() bool { return len(gone()) >= len(want) })
	}
	if got := gone(); !slices.Equal(got, want) {
		b.t.Errorf("disconnected as slow: %v, want %v", got, want)
	}
	b.look()
	for id, n := range b.seen {
		if slices.Contains(ids, id) != (n > 0) {
			b.t.Errorf("%s lost %d messages; the slow ones are %v", id, n, ids)
		}
	}
	if b.most > c25Queue {
		b.t.Errorf("%d bytes were kept for a player, want at most %d", b.most, c25Queue)
	}
}

// wantUntouched: the counters of a healthy one say all of it, sent and not dropped.
func (b *burst) wantUntouched(name string, total int) {
	b.t.Helper()
	b.eventually(name+" to have everything", func() bool {
		s := b.session(name)
		return s != nil && s.SRT.PktSentUniqueTotal == int64(total)
	})
	if s := b.session(name); lost(*s) != 0 || s.Queue.OverSince != (time.Time{}) {
		b.t.Errorf("%s: %+v", name, s.Queue)
	}
}

// audience is what one player got.
type audience struct {
	Got, Missing, Altered int
	Last                  int
	Err                   string
	delays                []time.Duration
}

// watch reads to the last message or the end of the connection.
func (a *audience) watch(c *srtcore.Conn, sent []atomic.Int64) {
	buf, next := make([]byte, 2000), 0
	c.SetReadDeadline(time.Now().Add(2 * patience))
	for {
		n, err := c.Read(buf)
		if err != nil {
			a.Err = err.Error()
			return
		}
		if bytes.Equal(buf[:n], message('z', 0)) {
			return
		}
		i := int(binary.BigEndian.Uint32(buf[4:]))
		if i < next || !bytes.Equal(buf[:n], message('a', i)) {
			a.Altered++
			continue
		}
		a.Got, a.Missing, a.Last, next = a.Got+1, a.Missing+i-next, i, i+1
		if sent != nil {
			a.delays = append(a.delays, time.Duration(time.Now().UnixNano()-sent[i].Load()))
		}
	}
}

// delay is the median one of the first second and of the last; two latencies lie
// between publisher and player.
func (a *audience) delay() (first, last time.Duration) {
	n := len(a.delays) / c25Seconds
	if n == 0 {
		return 0, 0
	}
	return median(a.delays[:n]), median(a.delays[len(a.delays)-n:])
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

const playerEnv = "WEIRLINE_TEST_PLAYER" // address and name

// TestPlayerProcess is a player in a process of its own, which can be stopped. It
// does nothing in a test run.
func TestPlayerProcess(t *testing.T) {
	address, name, ok := strings.Cut(os.Getenv(playerEnv), " ")
	if !ok {
		return
	}
	r := &rig{t: t, ctx: t.Context()}
	var a audience
	a.watch(r.from(address, name, c25Slow, 64<<10), nil) // so little that the system keeps nothing for it
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		t.Fatal(err)
	}
}

// playerProcess is what runs it.
type playerProcess struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func (r *rig) process(name string) *playerProcess {
	r.t.Helper()
	p := &playerProcess{cmd: exec.Command(os.Args[0], "-test.run=^TestPlayerProcess$")}
	p.cmd.Env = append(os.Environ(), playerEnv+"="+r.address()+" "+name)
	p.cmd.Stdout = &p.out
	if err := p.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := p.cmd.Process.Kill(); err == nil || !errors.Is(err, os.ErrProcessDone) {
			_ = p.cmd.Wait()
		}
	})
	return p
}

func (p *playerProcess) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wait waits for the player's end and returns what it has got.
func (p *playerProcess) wait(t *testing.T) (a audience) {
	t.Helper()
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, p.out.String())
	}
	if err := json.NewDecoder(&p.out).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}
