package daemon

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// TestFanout: one publisher and many players of one stream by stream id; some
// come and go all the time and some read nothing. Those that stay get every
// message, those that are slow are disconnected, and the counters of each are
// what it got.
func TestFanout(t *testing.T) {
	// One that reads nothing still acknowledges the first 290 messages: its buffers
	// hold them. So much later it is slow, and slow-after later gone.
	steady, seconds := 178, 7
	if testing.Short() || raceEnabled {
		steady = 60
	}
	const perSecond, slow = 100, 2
	n := perSecond * seconds
	r := newRig(t, "routes:\n"+strings.Replace(studio("a"), "name: a,", "name: a, slow-after: 1s, queue: 64KiB,", 1))
	var players []*srtcore.Conn
	for range steady {
		players = append(players, r.play("a"))
	}
	for range slow {
		r.lazyPlayer("a")
	}
	r.up("a", steady+slow)
	publisher := r.publish("a")
	stop := make(chan struct{})
	var visits atomic.Int64
	var come sync.WaitGroup
	come.Go(func() { r.comeAndGo(stop, &visits) })

	var reading sync.WaitGroup
	for _, p := range players {
		reading.Go(func() { r.wantStream(p, 'a', 0, n) })
	}
	for i := range n {
		if _, err := publisher.Write(message('a', i)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / perSecond)
	}
	reading.Wait()
	close(stop)
	come.Wait()
	if got := visits.Load(); got < int64(10*seconds) {
		t.Errorf("only %d players came and went in %d s", got, seconds)
	}
	r.wantCounters(n, steady)
	r.wantSlowGone(slow)
}

// lazyPlayer has little room and reads nothing.
func (r *rig) lazyPlayer(stream string) {
	r.t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.StreamID = "#!::r=" + stream + ",m=request"
	cfg.FC, cfg.RcvBuf = 32, 32*1456
	c, err := srtcore.Dial(r.ctx, r.address(), &cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Abort() })
}

// comeAndGo has 20 players a second join, watch a while, and leave. What they
// see begins somewhere and has no gap.
func (r *rig) comeAndGo(stop chan struct{}, visits *atomic.Int64) {
	var here sync.WaitGroup
	defer here.Wait()
	tick := time.NewTicker(time.Second / 20)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			here.Go(func() { r.visit(visits) })
		}
	}
}

func (r *rig) visit(visits *atomic.Int64) {
	cfg := srtcore.DefaultConfig()
	cfg.StreamID = "#!::r=a,m=request"
	c, err := srtcore.Dial(r.ctx, r.address(), &cfg)
	if err != nil {
		r.t.Errorf("a player was turned away: %v", err)
		return
	}
	defer c.Abort()
	c.SetReadDeadline(time.Now().Add(400 * time.Millisecond))
	got, next := make([]byte, 2000), -1
	for {
		n, err := c.Read(got)
		if err != nil {
			break // the time is over, or the stream
		}
		i := int(binary.BigEndian.Uint32(got[4:]))
		if next >= 0 && i != next || !bytes.Equal(got[:n], message('a', i)) {
			r.t.Errorf("a visitor got message %d after %d", i, next-1)
			return
		}
		next = i + 1
	}
	visits.Add(1)
}

// wantCounters: each steady player's counters say n messages, no more, no less.
func (r *rig) wantCounters(n, steady int) {
	r.t.Helper()
	r.eventually("the visitors to be gone", func() bool { return len(r.Routes()[0].Outputs[0].Sessions) == steady })
	for _, s := range r.Routes()[0].Outputs[0].Sessions {
		if s.Queue.Read != uint64(n) || s.Queue.Dropped != 0 || s.SRT.PktSentUniqueTotal != int64(n) || s.SRT.PktSndDropTotal != 0 {
			r.t.Errorf("player %s: %d messages read, %d dropped, %d packets sent, %d dropped; want %d, 0, %d, 0",
				s.ID, s.Queue.Read, s.Queue.Dropped, s.SRT.PktSentUniqueTotal, s.SRT.PktSndDropTotal, n, n)
		}
	}
}

func (r *rig) wantSlowGone(n int) {
	r.t.Helper()
	all, _ := r.Events(0)
	gone := 0
	for _, e := range all {
		if e.Kind == "slow" {
			gone++
		}
	}
	if gone != n {
		r.t.Errorf("%d players were disconnected as slow, want %d", gone, n)
	}
}
