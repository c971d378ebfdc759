package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// recvReport is the receiver's JSON line.
type recvReport struct {
	Role      string  `json:"role"`
	Lib       string  `json:"lib"`
	Accepted  int     `json:"accepted"`
	Timeout   int     `json:"timeout"`
	Bytes     uint64  `json:"delivered_bytes"`
	Msgs      uint64  `json:"msgs"`
	Gaps      uint64  `json:"gaps"`
	Dup       uint64  `json:"dup_or_reorder"`
	Corrupt   uint64  `json:"corrupt"`
	MinStream uint64  `json:"min_stream_msgs"`
	MaxStream uint64  `json:"max_stream_msgs"`
	Wall      decimal `json:"wall_s"`
	Mbps      decimal `json:"mbps"`
	Waits     uint64  `json:"epoll_waits"`
	P50       decimal `json:"lat_p50_ms"`
	P99       decimal `json:"lat_p99_ms"`
	P999      decimal `json:"lat_p999_ms"`
	Max       decimal `json:"lat_max_ms"`
	wireTotals
	processUse
}

const (
	recvBatch = 64
	lookEvery = 250 * time.Millisecond
	quietTime = 100 * time.Millisecond // nothing to read for so long: the run may be over
)

// receiver reads all connections with one goroutine.
type receiver struct {
	opt    Options
	poller *srtcore.Poller

	mu       sync.Mutex // conns: the acceptor appends
	conns    []*srtcore.Conn
	closed   int
	streams  []streamCount
	msgs     uint64
	bytes    uint64
	corrupt  uint64
	dup      uint64
	waits    uint64
	first    int64
	last     int64
	idle     bool
	timedOut bool
	nextLook int64
	lat      latencies
	peak     peaks
	from, to usage
	totals   wireTotals
	batch    []srtcore.Message
}

type streamCount struct{ n, next, gaps uint64 }

// Recv listens, receives until all senders have left, and prints one line. It
// returns the process's exit code.
func Recv(ctx context.Context, opt Options, out, errOut io.Writer) int {
	debug.SetGCPercent(gcPercent)
	cfg := opt.config()
	var err error
	if cfg.Runtime, err = opt.runtime(); err != nil {
		fail(out, "recv", "runtime", err)
		return 2
	}
	defer cfg.Runtime.Close()
	ln, err := srtcore.Listen(ctx, opt.addr(), &cfg)
	if err != nil {
		fail(out, "recv", "listen", err)
		return 2
	}
	defer ln.Close()
	fmt.Fprintln(errOut, "listening")
	r := newReceiver(opt)
	ctx, cancel := context.WithTimeout(ctx, time.Duration((opt.Secs+40)*float64(time.Second)))
	defer cancel()
	go r.accept(ctx, ln)
	r.run(ctx)
	r.report(out)
	if r.corrupt > 0 || r.timedOut {
		return 1
	}
	return 0
}

// gcPercent keeps the heap small: the steady state allocates next to nothing.
const gcPercent = 50

func newReceiver(opt Options) *receiver {
	r := &receiver{
		opt: opt, poller: srtcore.NewPoller(), idle: true, streams: make([]streamCount, opt.Streams),
		batch: make([]srtcore.Message, recvBatch),
	}
	r.from = usageNow()
	r.to = r.from
	return r
}

func (r *receiver) accept(ctx context.Context, ln *srtcore.Listener) {
	for {
		c, err := ln.Accept(ctx)
		if err != nil {
			return
		}
		r.mu.Lock()
		full := len(r.conns) >= r.opt.Streams
		if !full {
			r.conns = append(r.conns, c)
		}
		r.mu.Unlock()
		if full {
			c.Abort()
			continue
		}
		r.poller.Add(c)
	}
}

func (r *receiver) accepted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns)
}

func (r *receiver) run(ctx context.Context) {
	ready := make([]*srtcore.Conn, 0, r.opt.Streams)
	for !r.finished() && !r.timedOut {
		ready = r.spell(ctx, ready)
		r.timedOut = ctx.Err() != nil && !r.finished()
		r.quiet(now())
	}
	if !r.idle {
		r.endOfRun()
	}
	r.peak.look()
}

// spell reads for a while: one context serves many waits.
func (r *receiver) spell(ctx context.Context, ready []*srtcore.Conn) []*srtcore.Conn {
	ctx, cancel := context.WithTimeout(ctx, quietTime)
	defer cancel()
	for !r.finished() {
		var err error
		ready, err = r.poller.Wait(ctx, ready[:0])
		r.waits++
		for _, c := range ready {
			r.drain(c)
		}
		if t := now(); t >= r.nextLook {
			r.peak.look()
			r.nextLook = t + int64(lookEvery)
		}
		if err != nil {
			break
		}
	}
	return ready
}

// finished: all senders came and left.
func (r *receiver) finished() bool { return r.closed > 0 && r.closed == r.opt.Streams }

func (r *receiver) quiet(t int64) {
	if r.msgs > 0 && !r.idle && t-r.last >= int64(quietTime) {
		r.endOfRun()
		r.idle = true
	}
}

// endOfRun takes the figures of the measured part.
func (r *receiver) endOfRun() {
	r.to = usageNow()
	r.totals = wireTotals{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		s := c.Stats()
		r.totals.add(&s)
	}
}

// drain reads what one connection has.
func (r *receiver) drain(c *srtcore.Conn) {
	for {
		n, err := c.TryReceiveBatch(r.batch)
		if n > 0 {
			r.take(r.batch[:n])
			c.Release(r.batch[:n])
		}
		if err != nil {
			r.poller.Remove(c)
			c.Abort()
			r.closed++
			return
		}
		if n < recvBatch {
			return
		}
	}
}

func (r *receiver) take(batch []srtcore.Message) {
	t := now()
	if r.msgs == 0 {
		r.from, r.first = usageNow(), t
	}
	r.idle = false
	r.last = t
	for i := range batch {
		m := batch[i].Payload()
		r.msgs++
		s, err := check(m, r.opt.Deep)
		if err != nil || int(s.stream) >= len(r.streams) {
			r.corrupt++
			continue
		}
		r.lat.add(t - s.sent)
		r.count(&r.streams[s.stream], s.seq)
		r.bytes += uint64(len(m))
	}
}

func (r *receiver) count(c *streamCount, seq uint64) {
	c.n++
	if seq < c.next {
		r.dup++
		return
	}
	c.gaps += seq - c.next
	c.next = seq + 1
}

func (r *receiver) report(out io.Writer) {
	rep := recvReport{
		Role: "recv", Lib: library(), Accepted: r.accepted(), Bytes: r.bytes, Msgs: r.msgs,
		Dup: r.dup, Corrupt: r.corrupt, MinStream: math.MaxUint64, Waits: r.waits,
		P50: f1(r.lat.quantile(.5)), P99: f1(r.lat.quantile(.99)), P999: f1(r.lat.quantile(.999)), Max: f1(float64(r.lat.max) / 1e6),
		wireTotals: r.totals, processUse: useBetween(r.from, r.to, r.peak),
	}
	if r.timedOut {
		rep.Timeout = 1
	}
	for _, s := range r.streams {
		rep.Gaps += s.gaps
		rep.MinStream = min(rep.MinStream, s.n)
		rep.MaxStream = max(rep.MaxStream, s.n)
	}
	wall := float64(max(r.last-r.first, 0)) / 1e9
	rep.Wall = f3(wall)
	if wall > 0 {
		rep.Mbps = f2(float64(r.bytes) * 8 / wall / 1e6)
	}
	printLine(out, rep)
}
