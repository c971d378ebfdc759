// Package probe measures an SRT link and advises: how large the latency has to
// be, how much bandwidth retransmissions take, whether large packets get
// through, and how far the two clocks run apart.
//
// Lives here: the test stream, what is made of a connection's flight recorder
// and counters, the advice.
// May import: srtcore, trace. Never: endpoint, hub, route: a probe is one
// connection and no part of the daemon.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Options say what is measured.
type Options struct {
	URL string
	// Send sends a test stream; otherwise what the peer sends is measured.
	Send bool
	Rate int64 // of the test stream's payload, bits/s
	Secs float64
	// MaxSize is the largest message of the test stream, bytes.
	MaxSize int
}

// Bounds and defaults of Options.
const (
	DefaultRate = 5_000_000
	DefaultSecs = 10
	minRate     = 100_000
	maxRate     = 1_000_000_000
	minSecs     = 2
	// maxSecs is as long as a flight recorder remembers.
	maxSecs = 30

	fullSize = 1456 // what an Ethernet frame carries
)

// DefaultOptions returns what measures a link for most users.
func DefaultOptions(url string) Options {
	return Options{URL: url, Rate: DefaultRate, Secs: DefaultSecs, MaxSize: tsSize * packetsPerMessage}
}

// Check refuses what cannot be measured.
func (o *Options) Check() error {
	switch {
	case !(o.Secs >= minSecs && o.Secs <= maxSecs):
		return fmt.Errorf("--secs %g is refused: allowed %d..%d", o.Secs, minSecs, maxSecs)
	case o.Rate < minRate || o.Rate > maxRate:
		return fmt.Errorf("--rate %d bits/s is refused: allowed %d..%d (100k to 1G)", o.Rate, minRate, maxRate)
	case o.MaxSize < tsSize || o.MaxSize > fullSize:
		return fmt.Errorf("--max-size %d is refused: allowed %d..%d bytes", o.MaxSize, tsSize, fullSize)
	}
	return nil
}

// probeLatency is that of a probe whose URL leaves it open: long, so that it is
// seen how often a packet has to be sent again.
const probeLatency = time.Second

// records bounds the flight recorder of a probe: 2 MiB.
const records = 1 << 16

// target reads the URL and makes the connection one that can be measured well.
func (o *Options) target(rt *srtcore.Runtime) (*srtcore.Target, error) {
	t, err := srtcore.ParseURL(o.URL)
	if err != nil {
		return nil, err
	}
	c, open := &t.Config, srtcore.DefaultConfig()
	if c.RcvLatency == open.RcvLatency && c.PeerLatency == open.PeerLatency {
		c.RcvLatency, c.PeerLatency = probeLatency, probeLatency
	}
	if o.MaxSize > c.PayloadSize && c.PayloadSize == open.PayloadSize {
		c.PayloadSize = min(o.MaxSize, max(c.MSS-44, 0))
	}
	c.TraceRecords, c.Runtime = records, rt
	return t, nil
}

// fineTick lets the loop look at its sockets often: what it sees late would pass
// for jitter.
const fineTick = 200 * time.Microsecond

func newRuntime() (*srtcore.Runtime, error) {
	return srtcore.NewRuntime(srtcore.RuntimeConfig{Shards: 1, Tick: fineTick})
}

// Run measures the link that the URL names.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	rt, err := newRuntime()
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	t, err := o.target(rt)
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, t)
	if err != nil {
		return nil, err
	}
	defer c.Abort()
	if o.Send {
		return send(ctx, c, &o)
	}
	return receive(ctx, c, time.Now().Add(o.duration()))
}

func (o *Options) duration() time.Duration { return time.Duration(o.Secs * float64(time.Second)) }

// connect dials, or waits for the first caller.
func connect(ctx context.Context, t *srtcore.Target) (*srtcore.Conn, error) {
	if t.Mode == srtcore.ModeCaller {
		return t.Dial(ctx)
	}
	ln, err := t.Listen(ctx)
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	return ln.Accept(ctx)
}

// send measures with a test stream of its own.
func send(ctx context.Context, c *srtcore.Conn, o *Options) (*Report, error) {
	s := newStream(min(o.MaxSize, c.MaxPayload()))
	begin := time.Now()
	err := s.send(ctx, c, o.Rate, o.duration())
	if err != nil && !errors.Is(err, srtcore.ErrTimeout) && ctx.Err() == nil {
		return nil, fmt.Errorf("after %d messages: %w", s.next, err)
	}
	took := time.Since(begin)
	settle(c) // also if it was interrupted: what is measured is shown
	r := measure(c.Trace(), c.Stats(), true)
	r.TargetMbps, r.offered = float64(o.Rate)/1e6, int(s.next)
	r.offeredMbps = float64(s.sent) * 8 / 1e6 / took.Seconds()
	r.Sizes = sentSizes(c.Trace(), s.sizes)
	r.advise()
	return r, nil
}

// settle gives the last packets the time to be acknowledged or asked for.
func settle(c *srtcore.Conn) {
	rtt := time.Duration(c.Stats().MsRTT * float64(time.Millisecond))
	end := time.NewTimer(min(2*rtt+50*time.Millisecond, time.Second))
	defer end.Stop()
	select {
	case <-c.Done():
	case <-end.C:
	}
}

// receive measures with what the peer sends, until the peer ends or the time is
// over.
func receive(ctx context.Context, c *srtcore.Conn, until time.Time) (*Report, error) {
	stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if ctx.Err() == nil && !until.IsZero() {
		c.SetReadDeadline(until)
	}
	var in tally
	buf := make([]byte, 1<<11)
	for {
		n, err := c.Read(buf)
		if err == nil {
			in.take(buf[:n])
			continue
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, srtcore.ErrTimeout) && !errors.Is(err, srtcore.ErrPeerIdle) {
			return nil, err
		}
		break
	}
	t := c.Trace()
	r := measure(t, c.Stats(), false)
	r.Sizes, r.Damaged = in.sizeClasses(), in.damaged
	r.advise()
	return r, nil
}
