package access_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
)

var players = flag.Int("players", 40, "how many players TestPlayersComeAndGo has")

// Players come and go by stream id while media flows: what each gets is without a
// gap from his first message to his last, and everybody is counted.
func TestPlayersComeAndGo(t *testing.T) {
	r := newRig(t, config.Listener{Address: "srt://127.0.0.1:0?latency=200"})
	in, out := r.publish("live", ""), r.play("live", "")
	ctx, cancel := context.WithCancel(r.ctx)
	running := make(chan error)
	rt := route.New(route.Config{Name: "live", Source: in, Outputs: []endpoint.SinkEnd{out}})
	go func() { running <- rt.Run(ctx) }()

	pub := r.mustCall("#!::r=live,m=publish", "")
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				if _, err := pub.Write(message(i)); err != nil {
					t.Errorf("publisher: %v", err)
					return
				}
			}
		}
	})
	var visits, messages atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(3 * time.Second)
	for range *players {
		wg.Go(func() {
			for time.Now().Before(end) {
				n, err := visit(r, 5+rand.IntN(40))
				if err != nil {
					t.Error(err)
					return
				}
				visits.Add(1)
				messages.Add(int64(n))
			}
		})
	}
	wg.Wait()
	close(stop)
	writing.Wait()
	s := r.port.Snapshot()
	t.Logf("%d visits, %d messages compared", visits.Load(), messages.Load())
	if got := int64(s.Accepted); got != visits.Load()+1 || len(s.Refused) != 0 {
		t.Errorf("accepted %d of %d; refused %v", got, visits.Load()+1, s.Refused)
	}
	r.soon("players to be counted out", func() bool { return r.port.Snapshot().Connections == 1 })
	if pub.Err() != nil {
		t.Errorf("the publisher was lost: %v", pub.Err())
	}
	cancel()
	if err := <-running; err != nil {
		t.Error(err)
	}
}

// visit plays n messages and leaves, by SHUTDOWN or without a word.
func visit(r *rig, n int) (int, error) {
	cfg := srtcore.DefaultConfig()
	cfg.StreamID = "#!::r=live,m=request"
	c, err := srtcore.Dial(r.ctx, r.addr(), &cfg)
	if err != nil {
		return 0, err
	}
	defer c.Abort()
	buf := make([]byte, 1500)
	next := -1
	for k := range n {
		size, err := c.Read(buf)
		if errors.Is(err, io.EOF) {
			return k, io.ErrUnexpectedEOF
		}
		if err != nil {
			return k, err
		}
		i, err := indexOf(buf[:size])
		if err != nil {
			return k, err
		}
		if next >= 0 && i != next {
			return k, errors.New("a gap")
		}
		next = i + 1
	}
	return n, nil
}
