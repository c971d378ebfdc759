package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

const (
	// ackPeriod is the least time between full ACKs (draft section 3.2.4).
	ackPeriod = 10 * time.Millisecond
	// ackSlack is how much later than its point of the grid an ACK may go so that
	// it needs no wake-up of its own: a message's play time soon makes one.
	ackSlack = time.Millisecond
	// lightACKEvery is the number of packets after which a light ACK is due.
	lightACKEvery = 64
	// ackHistory is how many full ACKs may wait for their ACKACK: those of 640 ms
	// at first, of 10 s when the round trip turns out to be as long.
	ackHistory    = 64
	maxAckHistory = 1024
	// sparsePackets and sparsePeriod let a thin stream's ACK pass points of the
	// grid while packets keep coming: until there are so many of them, or so much
	// time has gone. At 1 Mbit/s an ACK and its ACKACK every 10 ms are two
	// datagrams for each one of data.
	sparsePackets = 16
	sparsePeriod  = 4 * ackPeriod
	// settledACKs are sent on every point of the grid: the first round-trip
	// samples are wanted soon.
	settledACKs = 16
	// minAvail is the least free buffer an ACK speaks of. A libsrt sender that was
	// told of none and then drops what is too late takes no later ACK for news,
	// since these name packets that it has dropped: it would be silent for ever.
	minAvail = 2
)

// acker is the acknowledging side. Full ACKs of all connections fall on one
// grid of 10 ms, so that those to one peer address travel together.
type acker struct {
	due      mono.Time // of the next full ACK; Never: nothing new
	packets  int       // since the last full ACK
	looked   int       // of those, seen at the last point of the grid
	lastSeq  seq.Number
	lastNo   uint32
	lastAt   mono.Time   // of the last full ACK
	answered bool        // the last full ACK got its ACKACK
	avail    int         // free buffer said in the last full ACK
	history  []ackRecord // by number, modulo its length
}

// ackRecord remembers when an ACK number was sent.
type ackRecord struct {
	no uint32
	at mono.Time
}

func (a *acker) init(first seq.Number, avail int) {
	a.due, a.lastSeq, a.answered, a.avail = mono.Never, first, true, avail
}

// record returns where an ACK number has its place.
func (a *acker) record(no uint32) *ackRecord { return &a.history[no%uint32(len(a.history))] }

// maybeGrow makes the history longer if the ACKACK of a number comes after that
// number's place was taken by a later one.
func (a *acker) maybeGrow(no uint32) {
	late := a.lastNo - no
	if late < uint32(len(a.history)) || late >= maxAckHistory {
		return
	}
	old := a.history
	a.history = make([]ackRecord, 2*len(old))
	for _, rec := range old {
		*a.record(rec.no) = rec
	}
}

// onGrid returns the next instant of the common 10 ms grid after now.
func onGrid(now mono.Time) mono.Time {
	return (now/mono.Time(ackPeriod) + 1) * mono.Time(ackPeriod)
}

// onData: a data packet came; an ACK will be due.
func (a *acker) onData(now mono.Time, c *Conn) {
	a.packets++
	if a.packets%lightACKEvery == 0 {
		c.ctl.lightACK = true
	}
	a.wake(now)
}

// deadline is when the connection wants to be woken for its ACK.
func (a *acker) deadline() mono.Time {
	if a.due == mono.Never {
		return mono.Never
	}
	return a.due.Add(ackSlack)
}

// wake makes a full ACK due at the next point of the grid.
func (a *acker) wake(now mono.Time) { a.due = mono.Min(a.due, onGrid(now)) }

// advanceACK decides at its deadline whether a full ACK says anything new.
func (c *Conn) advanceACK(now mono.Time) {
	a := &c.rcv.ack
	if now < a.due {
		return
	}
	news := c.ackSeq() != a.lastSeq || a.reopened(c)
	repeat := !a.answered && now >= c.ackRepeat()
	switch {
	case c.state != stateConnected:
		a.due = mono.Never
	case news && a.maySkip(now, c):
		a.looked, a.due = a.packets, onGrid(now)
	case news || repeat:
		c.ctl.fullACK = true
		a.due = mono.Never
	case !a.answered:
		a.due = c.ackRepeat()
	default:
		a.due = mono.Never
	}
}

// maySkip reports whether the ACK can wait for the next point of the grid: the
// stream is thin, packets still come, and nothing hangs on the answer. Without
// periodic NAKs the peer counts on every ACK to tell what is lost.
func (a *acker) maySkip(now mono.Time, c *Conn) bool {
	return c.cfg.NAKReport && a.lastNo >= settledACKs && a.packets > a.looked && a.packets < sparsePackets &&
		now.Sub(a.lastAt) < sparsePeriod-ackPeriod/2 && len(c.rcv.loss.runs) == 0 && !a.reopened(c)
}

// ackRepeat is when a full ACK that got no ACKACK is sent again: never sooner
// than the ACK period, however short the round trip is.
func (c *Conn) ackRepeat() mono.Time {
	return c.rcv.ack.lastAt.Add(max(c.rtt.timeout(), ackPeriod))
}

// reopened reports whether the peer was told of a (nearly) full buffer that
// now has room: it may be waiting for that word.
func (a *acker) reopened(c *Conn) bool {
	return a.avail < c.rcv.buf.limit/8 && c.availBuf() > 2*a.avail+1
}

// ackSeq is the first number not received: Last Acknowledged Packet Sequence
// Number in the draft, whose name is off by one.
func (c *Conn) ackSeq() seq.Number {
	if l := &c.rcv.loss; len(l.runs) > 0 {
		return l.runs[0].first
	}
	return c.rcv.buf.end()
}

// availBuf is the free receive buffer in packets, never the fill level.
func (c *Conn) availBuf() int { return max(c.rcv.buf.limit-c.rcv.buf.span, 0) }

func (c *Conn) pollACK(now mono.Time, b *dgram.Batch) {
	if c.ctl.fullACK {
		c.ctl.fullACK, c.ctl.lightACK = false, false
		c.sendFullACK(now, b)
	}
	if c.ctl.lightACK {
		c.ctl.lightACK = false
		ack := wire.ACK{Kind: wire.ACKLight, LastAckSeq: c.ackSeq()}
		ack.Put(c.addControl(now, b, wire.ControlHeader{Type: wire.CtrlACK}, ack.Kind.Size()))
	}
}

func (c *Conn) sendFullACK(now mono.Time, b *dgram.Batch) {
	a := &c.rcv.ack
	c.rcv.rate.advance(now)
	a.lastNo++
	a.lastSeq, a.lastAt, a.answered, a.packets, a.looked = c.ackSeq(), now, false, 0, 0
	a.avail = max(c.availBuf(), minAvail)
	if a.history == nil {
		a.history = make([]ackRecord, ackHistory)
	}
	*a.record(a.lastNo) = ackRecord{a.lastNo, now}
	// Should the ACKACK not come, this one is repeated.
	a.due = c.ackRepeat()
	ack := wire.ACK{
		Kind: wire.ACKFull, LastAckSeq: a.lastSeq,
		RTTUs: uint32(c.rtt.smoothed.Microseconds()), RTTVarUs: uint32(c.rtt.variance.Microseconds()),
		AvailBufPkts: uint32(a.avail), RcvRatePkts: uint32(c.rcv.rate.packets),
		LinkCapPkts: uint32(c.rcv.rate.capacity()), RcvRateBytes: uint32(c.rcv.rate.bytes),
	}
	ack.Put(c.addControl(now, b, wire.ControlHeader{Type: wire.CtrlACK, Info: a.lastNo}, ack.Kind.Size()))
	if c.rcv.rec != nil {
		c.noteACK(now, a.lastNo, &ack)
	}
	c.stats.sentACK++
}

// handleACKACK closes the loop of one full ACK: a round-trip sample, and one of
// the clocks' drift.
func (c *Conn) handleACKACK(now mono.Time, h wire.ControlHeader) {
	a := &c.rcv.ack
	if h.Info == 0 || a.history == nil {
		return
	}
	rec := a.record(h.Info)
	if rec.no != h.Info {
		a.maybeGrow(h.Info)
		return
	}
	rec.no = 0
	if h.Info == a.lastNo {
		a.answered = true
		if c.ackSeq() == a.lastSeq && !a.reopened(c) {
			a.due = mono.Never
		}
	}
	arrived := max(c.ep.arrived, rec.at)
	sample := arrived.Sub(rec.at)
	c.rtt.sample(sample)
	if c.rcv.rec != nil {
		c.noteRTT(arrived, &h, sample)
	}
	c.rcv.tsbpd.drift(arrived, h.Timestamp, sample-c.rtt.first, c)
}

// handleACK takes an acknowledgement (draft section 3.2.4).
func (c *Conn) handleACK(now mono.Time, h wire.ControlHeader, content []byte) {
	a, err := wire.ParseACK(content)
	released := a.LastAckSeq.Sub(c.snd.buf.first)
	if err != nil || released > c.snd.buf.sent || released < -maxFlight {
		c.stats.badACK++ // an impossible ACK changes nothing
		return
	}
	if a.Kind != wire.ACKLight && h.Info != 0 {
		c.stats.recvACK++
		if c.rcv.rec != nil {
			c.noteAcked(now, &h, &a)
		}
		if len(c.ctl.ackacks) < maxQueued {
			c.ctl.ackacks, c.ctl.lists = append(c.ctl.ackacks, h.Info), true
		}
	}
	progress := a.LastAckSeq.Sub(c.snd.acked)
	if progress < 0 {
		return // overtaken by a later one
	}
	c.snd.acked = a.LastAckSeq
	if released > 0 { // else it names what was dropped as too late
		c.acknowledge(now, released)
	}
	if a.Kind == wire.ACKLight {
		c.snd.window = max(c.snd.window-progress, 0)
		return
	}
	c.snd.window = min(int(a.AvailBufPkts), maxFlight)
	if a.Kind == wire.ACKFull {
		c.rtt.learn(a.RTTUs, a.RTTVarUs)
		c.stats.peerCapacity = a.LinkCapPkts
		c.stats.learnPeerRate(a.RcvRateBytes)
	}
}

// acknowledge releases the oldest n packets.
func (c *Conn) acknowledge(now mono.Time, n int) {
	c.snd.buf.drop(n, c.ep.cache)
	c.snd.loss.removeBefore(c.snd.buf.first)
	c.snd.lastAcked = now
	c.snd.tail.rearm(now, c)
	c.maybeIdle(now)
}
