package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// sendReport is the sender's JSON line.
type sendReport struct {
	Role      string  `json:"role"`
	Lib       string  `json:"lib"`
	Streams   int     `json:"streams"`
	Shared    int     `json:"shared_muxer"`
	Offered   uint64  `json:"offered_bytes"`
	SentBytes uint64  `json:"sent_bytes"`
	SentMsgs  uint64  `json:"sent_msgs"`
	Stalls    uint64  `json:"send_stalls"`
	Errors    uint64  `json:"send_errors"`
	LateTicks uint64  `json:"late_ticks"`
	Connect   decimal `json:"connect_s"`
	Wall      decimal `json:"wall_s"`
	Drain     decimal `json:"drain_s"`
	Undrained int     `json:"undrained"`
	Mbps      decimal `json:"mbps"`
	// PerSecond counts the messages handed over in each second of the run: the
	// source was even if they are.
	PerSecond []uint64 `json:"sent_per_s"`
	wireTotals
	processUse
}

const (
	settle     = 300 * time.Millisecond // after the handshakes, before the measured part
	drainBound = 5 * time.Second
	sendBatch  = 64
	roomy      = 512 // messages under way; the library queues far more
)

// sender feeds all connections from one goroutine.
type sender struct {
	opt     Options
	runtime *srtcore.Runtime
	conns   []*srtcore.Conn
	seq     []uint64
	batch   [][]byte

	sent, stalls, errors, lateTicks uint64
	begun                           int64
	perSecond                       []uint64
	nextLook                        int64
	peak                            peaks
	rep                             sendReport
}

// Send connects, sends for the set time, and prints one line. It returns the
// process's exit code.
func Send(ctx context.Context, opt Options, out io.Writer) int {
	debug.SetGCPercent(gcPercent)
	s := &sender{opt: opt, perSecond: make([]uint64, max(1, int(opt.Secs))), seq: make([]uint64, opt.Streams), batch: make([][]byte, sendBatch)}
	for i := range s.batch {
		s.batch[i] = make([]byte, messageSize)
	}
	defer s.close()
	if err := s.connect(ctx); err != nil {
		fail(out, "send", "connect", err)
		return 2
	}
	if err := s.run(); err != nil {
		fail(out, "send", "run", err)
		return 2
	}
	printLine(out, s.rep)
	if s.errors > 0 {
		return 1
	}
	return 0
}

func (s *sender) close() {
	if s.runtime != nil {
		_ = s.runtime.Close()
	}
}

func (s *sender) connect(ctx context.Context) error {
	begun := now()
	cfg := s.opt.config()
	var err error
	if cfg.Runtime, err = s.opt.runtime(); err != nil {
		return err
	}
	s.runtime = cfg.Runtime
	for i := range s.opt.Streams {
		c, err := srtcore.Dial(ctx, s.opt.addr(), &cfg)
		if err != nil {
			return fmt.Errorf("#%d: %w", i, err)
		}
		s.conns = append(s.conns, c)
	}
	s.rep.Connect = f3(float64(now()-begun) / 1e9)
	time.Sleep(settle)
	s.peak.look()
	return nil
}

func (s *sender) run() error {
	from, begun := usageNow(), now()
	s.begun = begun
	var err error
	if s.opt.Unpaced {
		err = s.unpaced(begun)
	} else {
		err = s.paced(begun)
	}
	if err != nil {
		return err
	}
	ended := now()
	left := s.drain(ended)
	to, drained := usageNow(), now()
	s.peak.look()
	time.Sleep(time.Duration(s.opt.Latency+700) * time.Millisecond)
	var totals wireTotals
	for _, c := range s.conns {
		st := c.Stats()
		totals.add(&st)
		c.Abort()
	}
	s.fill(float64(ended-begun)/1e9, float64(drained-ended)/1e9, left, totals)
	s.rep.processUse = useBetween(from, to, s.peak)
	return nil
}

func (s *sender) fill(wall, drain float64, left int, totals wireTotals) {
	r := &s.rep
	r.Role, r.Lib, r.Streams = "send", library(), s.opt.Streams
	if s.opt.Shared {
		r.Shared = 1
	}
	offered := s.sent
	if !s.opt.Unpaced {
		offered = s.perStream() * uint64(s.opt.Streams)
	}
	r.Offered, r.SentBytes, r.SentMsgs = offered*messageSize, s.sent*messageSize, s.sent
	r.Stalls, r.Errors, r.LateTicks = s.stalls, s.errors, s.lateTicks
	r.Wall, r.Drain, r.Undrained = f3(wall), f3(drain), left
	r.Mbps = f2(float64(s.sent) * messageSize * 8 / wall / 1e6)
	r.wireTotals = totals
	r.PerSecond = s.perSecond
}

func (s *sender) rate() float64     { return s.opt.Mbps * 1e6 / 8 / messageSize }
func (s *sender) perStream() uint64 { return uint64(s.rate() * s.opt.Secs) }

// paced sends on a fixed grid of ticks what has come due since the last.
func (s *sender) paced(begun int64) error {
	period := time.Duration(s.opt.TickUs) * time.Microsecond
	t, err := newTicker()
	if err != nil {
		return err
	}
	defer t.stop()
	tick := begun
	for {
		elapsed := float64(now()-begun) / 1e9
		done := elapsed >= s.opt.Secs
		for i := range s.conns {
			s.sendDue(i, s.due(i, elapsed, done))
		}
		if done || s.errors > 1000 {
			return nil
		}
		tick += int64(period)
		at := now()
		s.lookAt(at)
		if tick <= at {
			s.lateTicks++
			tick = at
			continue
		}
		t.wait(tick)
	}
}

// due is how many messages stream i has been owed so far; the streams' grids
// are spread over one message's time.
func (s *sender) due(i int, elapsed float64, done bool) uint64 {
	per := s.perStream()
	if done {
		return per
	}
	return min(uint64(elapsed*s.rate()+float64(i)/float64(s.opt.Streams)), per)
}

func (s *sender) sendDue(i int, due uint64) {
	for s.seq[i] < due {
		k := int(min(due-s.seq[i], sendBatch))
		if s.write(i, k) < k {
			return
		}
	}
}

// write builds and sends k messages of stream i, and returns how many went.
func (s *sender) write(i, k int) int {
	at := now()
	for j := range k {
		build(s.batch[j], uint32(i), s.seq[i]+uint64(j), uint32(s.opt.Streams), at)
	}
	n, err := s.put(s.conns[i], s.batch[:k])
	s.seq[i] += uint64(n)
	s.sent += uint64(n)
	s.perSecond[min(int((at-s.begun)/1e9), len(s.perSecond)-1)] += uint64(n)
	switch {
	case errors.Is(err, srtcore.ErrAgain), errors.Is(err, srtcore.ErrTimeout):
		s.stalls++
	case err != nil:
		s.errors++
	}
	return n
}

// unpaced sends as fast as the connections take it.
func (s *sender) unpaced(begun int64) error {
	end := begun + int64(s.opt.Secs*1e9)
	for _, c := range s.conns {
		c.SetWriteDeadline(time.Now().Add(time.Duration(end - now())))
	}
	for now() < end && s.errors == 0 {
		for i := range s.conns {
			s.write(i, sendBatch)
		}
		s.lookAt(now())
	}
	return nil
}

func (s *sender) lookAt(t int64) {
	if t >= s.nextLook {
		s.peak.look()
		s.nextLook = t + int64(lookEvery)
	}
}

// drain waits until everything is acknowledged, within a bound, and returns
// how many messages are not.
func (s *sender) drain(from int64) (left int) {
	for {
		left = 0
		for _, c := range s.conns {
			left += c.Buffered()
		}
		if left == 0 || now() > from+int64(drainBound) {
			return left
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// put hands the messages over; paced, it never waits. A connection with little
// under way has room for a whole batch, which is cheaper than message by message.
func (s *sender) put(c *srtcore.Conn, batch [][]byte) (int, error) {
	if s.opt.Unpaced || len(batch) > 1 && c.Buffered() < roomy {
		return c.WriteBatch(batch)
	}
	for i, m := range batch {
		if err := c.TryWrite(m); err != nil {
			return i, err
		}
	}
	return len(batch), nil
}
