package srtcore_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/weirline/weirline/srtcore"
)

func TestPoller(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		const conns, messages = 8, 120
		l := r.listen("127.0.0.1:0")
		p := srtcore.NewPoller()
		streams := make(map[*srtcore.Conn]byte)
		var wg sync.WaitGroup
		for i := range conns {
			c := r.dial(l.Addr().String())
			s := r.accept(l)
			streams[s] = byte(i)
			p.Add(s)
			wg.Go(func() {
				r.mustWrite(c, byte(i), messages)
				_ = c.Close()
			})
		}
		got := make(map[*srtcore.Conn]int)
		buf := [][]byte{make([]byte, 1500), make([]byte, 1500)} // few, so that some is left each time
		var ready []*srtcore.Conn
		for ended := 0; ended < conns; {
			var err error
			if ready, err = p.Wait(r.ctx, ready[:0]); err != nil {
				t.Fatal(err)
			}
			for _, c := range ready {
				n, err := c.TryReadBatch(buf)
				for _, b := range buf[:n] {
					if string(b) != string(message(streams[c], got[c])) {
						t.Errorf("stream %d, message %d is wrong", streams[c], got[c])
					}
					got[c]++
				}
				if err == io.EOF {
					ended++
					p.Remove(c)
				}
			}
		}
		wg.Wait()
		for c, n := range got {
			if n != messages {
				t.Errorf("stream %d: %d messages of %d", streams[c], n, messages)
			}
		}
	})
}

func TestPollerContext(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	p := srtcore.NewPoller()
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	if ready, err := p.Wait(ctx, nil); len(ready) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v, %v", ready, err)
	}
	// A connection that has something already, and one that moves to another
	// Poller.
	a, b := r.pair()
	r.wantWrite(a, "early")
	wantSoon(t, "the acknowledgement", func() bool { return a.Buffered() == 0 })
	p.Add(b)
	if ready, err := p.Wait(r.ctx, nil); err != nil || len(ready) != 1 || ready[0] != b {
		t.Errorf("Wait = %v, %v", ready, err)
	}
	q := srtcore.NewPoller()
	q.Add(b)
	if ready, err := q.Wait(r.ctx, nil); err != nil || len(ready) != 1 {
		t.Errorf("Wait = %v, %v", ready, err)
	}
	if ready, _ := p.Wait(ctx, nil); len(ready) != 0 {
		t.Errorf("Wait returns %v, which has moved", ready)
	}
}
