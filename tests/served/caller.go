package served

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Caller is an SRT connection to the daemon.
type Caller struct {
	Conn *srtcore.Conn
	t    *testing.T
	n    atomic.Int64
	mu   sync.Mutex
	err  error // of its content
	done sync.WaitGroup
}

// Call connects as a caller with this stream id. The connection is gone at the
// end of the test. On a machine that is busy media comes late, and it must come
// all the same: nothing is too late (the listener has tlpktdrop=0 for that, too).
func Call(t *testing.T, addr, streamID string, each ...func(*srtcore.Config)) *Caller {
	t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.StreamID = streamID
	cfg.ConnTimeout, cfg.TLPktDrop = Patience, false
	for _, f := range each {
		f(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	conn, err := srtcore.Dial(ctx, addr, &cfg)
	if err != nil {
		t.Fatalf("calling with stream id %q: %v", streamID, err)
	}
	c := &Caller{Conn: conn, t: t}
	t.Cleanup(func() {
		conn.Abort()
		c.done.Wait()
	})
	return c
}

// tick is how often a publisher sends what is due.
const tick = 10 * time.Millisecond

// Publish sends stream at a steady rate until its connection ends.
func Publish(t *testing.T, addr, streamID string, stream byte, mbps float64) *Caller {
	t.Helper()
	return PublishSecretly(t, addr, streamID, "", stream, mbps)
}

// PublishSecretly is Publish with a passphrase.
func PublishSecretly(t *testing.T, addr, streamID, passphrase string, stream byte, mbps float64) *Caller {
	t.Helper()
	c := Call(t, addr, streamID, func(cfg *srtcore.Config) { cfg.Passphrase = passphrase })
	perSecond := mbps * 1e6 / 8 / messageSize
	c.done.Go(func() {
		timer := time.NewTicker(tick)
		defer timer.Stop()
		begun := time.Now()
		for n := 0; ; {
			for due := int(time.Since(begun).Seconds() * perSecond); n < due; n++ {
				if _, err := c.Conn.Write(message(stream, n)); err != nil {
					return
				}
				c.n.Add(1)
			}
			select {
			case <-timer.C:
			case <-c.Conn.Done():
				return
			}
		}
	})
	return c
}

// Play receives stream until its connection ends and holds every byte of it to
// what was sent.
func Play(t *testing.T, addr, streamID string, stream byte) *Caller {
	t.Helper()
	c := Call(t, addr, streamID)
	c.done.Go(func() {
		f := follower{stream: stream}
		buf := make([]byte, 2*messageSize)
		for {
			n, err := c.Conn.Read(buf)
			if err != nil {
				return
			}
			if err := f.take(buf[:n]); err != nil {
				c.fault(err)
			}
			c.n.Add(1)
		}
	})
	return c
}

func (c *Caller) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = errors.Join(c.err, err)
}

// Messages are how many it has sent or received.
func (c *Caller) Messages() int64 { return c.n.Load() }

// Ended tells whether the connection has.
func (c *Caller) Ended() bool {
	select {
	case <-c.Conn.Done():
		return true
	default:
		return false
	}
}

// WantEnd waits for the connection to end.
func (c *Caller) WantEnd(who string) {
	c.t.Helper()
	select {
	case <-c.Conn.Done():
	case <-time.After(Patience):
		c.t.Errorf("%s is still connected after %v", who, Patience)
	}
}

// WantMore waits until more has come and complains if the connection has ended or
// something of what came was not right.
func (c *Caller) WantMore(who string) {
	c.t.Helper()
	from := c.Messages()
	Until(c.t, fmt.Sprintf("more of the stream of %s (ended: %v)", who, c.Conn.Err()), func() bool {
		return c.Messages() >= from+20 || c.Ended()
	})
	if c.Ended() {
		c.t.Errorf("the connection of %s has ended: %v", who, c.Conn.Err())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		c.t.Errorf("what %s received: %v", who, c.err)
	}
}
