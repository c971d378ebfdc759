package daemon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/tests/lab/impair"
)

// The fan-out: 200 players of one stream by stream id, two of which are behind
// links too slow for it, and each second 20 more that come, watch for a second
// and leave.
const (
	fanoutPlayers  = 200
	fanoutSlow     = 2
	fanoutRate     = 20 // messages a second
	fanoutComing   = 20 // players a second
	fanoutMessages = 7 * fanoutRate
	fanoutVisit    = fanoutRate // messages that a visitor stays for
)

// TestFanout: those that stay get every message, those that come get every one
// from their first on, those that are slow are disconnected, and the counters of
// each are what it got.
func TestFanout(t *testing.T) {
	f := &fanout{rig: newRig(t, "routes:\n"+strings.Replace(studio("a"), "name: a,", "name: a, slow-after: 1s,", 1))}
	var steady []*srtcore.Conn
	for i := range fanoutPlayers - fanoutSlow {
		steady = append(steady, f.player(f.address(), fmt.Sprint("steady", i)))
	}
	var slow []string
	for i := range fanoutSlow {
		link := f.thinLink(50_000)
		f.playerAt(link.Addr(), fmt.Sprint("slow", i), time.Second)
		slow = append(slow, fmt.Sprint("slow", i))
	}
	f.up("a", fanoutPlayers)
	for i, name := range slow {
		slow[i] = f.session(name).ID
	}

	var reading sync.WaitGroup
	got := make([]int, len(steady))
	for i, p := range steady {
		reading.Go(func() { got[i] = f.readToEnd(p) })
	}
	total := f.send(f.publish("a"))
	reading.Wait()
	for i, n := range got {
		if n != total {
			t.Errorf("player %d got %d of %d messages", i, n, total)
		}
	}
	if f.visits != fanoutMessages*fanoutComing/fanoutRate {
		t.Errorf("%d players came and went", f.visits)
	}
	f.wantCounters(total, len(steady))
	f.wantSlowGone(slow)
}

type fanout struct {
	*rig
	mu     sync.Mutex
	visits int // that ended as they should
}

// player comes under a name of its own. Its latency is so long that a busy machine
// does not make it lose anything.
func (r *rig) player(address, name string) *srtcore.Conn {
	r.t.Helper()
	return r.playerAt(address, name, patientLatency)
}

const patientLatency = 2500 * time.Millisecond

func (r *rig) playerAt(address, name string, latency time.Duration) *srtcore.Conn {
	r.t.Helper()
	c, err := r.tryPlayer(address, name, latency)
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	return c
}

func (r *rig) tryPlayer(address, name string, latency time.Duration) (*srtcore.Conn, error) {
	cfg := srtcore.DefaultConfig()
	cfg.StreamID, cfg.RcvLatency, cfg.ConnTimeout = "#!::r=a,m=request,s="+name, latency, patience
	c, err := srtcore.Dial(r.ctx, address, &cfg)
	if err == nil {
		r.t.Cleanup(func() { c.Abort() })
	}
	return c, err
}

// link is a bad network in front of the listener.
func (r *rig) link(up, down impair.Path) *impair.Relay {
	r.t.Helper()
	l, err := impair.Start(impair.Config{Target: r.address(), Seed: 1, Up: up, Down: down})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(l.Close)
	return l
}

// thinLink carries so many bits a second to the player. What the player has given
// up comes back as acknowledged, after a while as on any line: before that the
// daemon has dropped it as too late, and counted it.
func (r *rig) thinLink(bits int64) *impair.Relay {
	r.t.Helper()
	return r.link(impair.Path{Delay: 100 * time.Millisecond}, impair.Path{Rate: &impair.Rate{Bits: bits, Queue: 16 << 10}})
}

// send publishes at the rate, has visitors come, goes on for as long as there are
// any, and says with the last message how many were before it.
func (f *fanout) send(publisher *srtcore.Conn) (total int) {
	f.t.Helper()
	var here sync.WaitGroup
	left := make(chan struct{})
	pace := time.NewTicker(time.Second / fanoutRate)
	defer pace.Stop()
	for i := 0; ; i++ {
		<-pace.C
		switch {
		case i < fanoutMessages && i%(fanoutRate/fanoutComing) == 0:
			here.Go(func() { f.visit(fmt.Sprint("visitor", i)) })
		case i == fanoutMessages:
			go func() { here.Wait(); close(left) }()
		case i > fanoutMessages:
			select {
			case <-left:
				f.write(publisher, message('z', i))
				return i
			default:
			}
		}
		f.write(publisher, message('a', i))
	}
}

func (f *fanout) write(c *srtcore.Conn, b []byte) {
	f.t.Helper()
	if _, err := c.Write(b); err != nil {
		f.t.Fatal(err)
	}
}

// readToEnd reads messages from the first on to the last, and returns how many.
func (f *fanout) readToEnd(c *srtcore.Conn) int {
	c.SetReadDeadline(time.Now().Add(2 * patience))
	got := make([]byte, 2000)
	for i := 0; ; i++ {
		n, err := c.Read(got)
		switch {
		case err == nil && bytes.Equal(got[:n], message('z', i)):
			return i
		case err != nil || !bytes.Equal(got[:n], message('a', i)):
			f.t.Errorf("message %d: %d bytes, %v", i, n, err)
			return i
		}
	}
}

// visit comes, watches and leaves. What it sees begins somewhere and has no gap,
// and its counters are its own.
func (f *fanout) visit(name string) {
	c, err := f.tryPlayer(f.address(), name, patientLatency)
	if err != nil {
		f.t.Errorf("%s was turned away: %v", name, err)
		return
	}
	defer c.Abort()
	c.SetReadDeadline(time.Now().Add(patience))
	got, first := make([]byte, 2000), 0
	for k := range fanoutVisit {
		n, err := c.Read(got)
		if err != nil {
			f.t.Errorf("a visitor got %d messages, then %v", k, err)
			return
		}
		if k == 0 {
			first = int(binary.BigEndian.Uint32(got[4:]))
		}
		if !bytes.Equal(got[:n], message('a', first+k)) {
			f.t.Errorf("a visitor got another message than %d", first+k)
			return
		}
	}
	if strings.HasSuffix(name, "50") || strings.HasSuffix(name, "00") { // a look at all counters is not cheap
		s := f.session(name)
		if s == nil || s.Queue.Read < fanoutVisit || s.Queue.Read > 10*fanoutVisit || s.Queue.Dropped != 0 || s.SRT.PktSentUniqueTotal < fanoutVisit {
			f.t.Errorf("the counters of a visitor: %+v", s)
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visits++
}

// session is the one of the player with this name; nil: there is none.
func (r *rig) session(name string) *route.SessionSnapshot {
	all := r.Routes()[0].Outputs[0].Sessions
	i := slices.IndexFunc(all, func(s route.SessionSnapshot) bool { return strings.HasSuffix(s.StreamID, ",s="+name) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// wantCounters: each steady player's counters say n messages and the last one, no
// more, no less.
func (f *fanout) wantCounters(n, steady int) {
	f.t.Helper()
	n++
	f.eventually("the others to be gone", func() bool { return len(f.Routes()[0].Outputs[0].Sessions) == steady })
	out := f.Routes()[0].Outputs[0]
	for _, s := range out.Sessions {
		if s.Queue.Read != uint64(n) || s.Queue.Dropped != 0 || s.SRT.PktSentUniqueTotal != int64(n) || s.SRT.PktSndDropTotal != 0 {
			f.t.Errorf("player %s: %d messages read, %d dropped, %d packets sent, %d dropped; want %d, 0, %d, 0",
				s.ID, s.Queue.Read, s.Queue.Dropped, s.SRT.PktSentUniqueTotal, s.SRT.PktSndDropTotal, n, n)
		}
	}
	if want := fanoutPlayers + f.visits; out.Opened != want || out.Queue.Dropped+uint64(out.TooLate) == 0 {
		f.t.Errorf("%d players were served, want %d; %d messages dropped, and %d as too late, for the slow ones", out.Opened, want, out.Queue.Dropped, out.TooLate)
	}
}

// wantSlowGone: these sessions were disconnected as slow, and no others.
func (f *fanout) wantSlowGone(ids []string) {
	f.t.Helper()
	all, _ := f.Events(0)
	var gone []string
	for _, e := range all {
		if e.Kind == "slow" {
			gone = append(gone, strings.Fields(e.Text)[1])
		}
	}
	slices.Sort(gone)
	slices.Sort(ids)
	if !slices.Equal(gone, ids) {
		f.t.Errorf("disconnected as slow: %v, want %v", gone, ids)
	}
}
