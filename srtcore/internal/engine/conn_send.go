package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// sender is the sending half of a connection.
type sender struct {
	tail   tail
	window int // packets the peer's receiver takes beyond the last ACK
	buf    sndBuffer

	msgNo     seq.MsgNo
	acked     seq.Number // of the last ACK; behind the buffer after a too-late drop
	lastAcked mono.Time  // when an ACK last released something
	busySince mono.Time  // since when the buffer has not been empty; 0: it is

	pacer    pacer
	budget   rexmitBudget
	lateness time.Duration // messages are dropped beyond this age; 0: never
	room     int           // bytes of the largest message
	loss     sndLoss
}

func (s *sender) init(c *Conn, first seq.Number, window int) {
	s.buf.init(first, c.cfg.SndBufPkts)
	s.pacer.init(&c.cfg)
	s.lateness, s.room = c.tooLateAge(), c.mss-wireOverhead
	s.budget.init()
	s.msgNo, s.acked = 1, first
	s.window = window
}

func (s *sender) release(cache *dgram.Cache) {
	s.buf.drop(s.buf.n, cache)
	s.loss.reset()
	s.tail.stop()
}

func (s *sender) nextDeadline(c *Conn) mono.Time {
	return mono.Min(s.tail.deadline, s.pacingDeadline(c))
}

// pacingDeadline is when the next packet may go, if one waits for that.
func (s *sender) pacingDeadline(c *Conn) mono.Time {
	if s.buf.n == 0 {
		return mono.Never
	}
	canNew := s.buf.sent < s.buf.n && c.windowOpen()
	canRepeat := s.loss.count > 0 && s.loss.runnable
	if !canNew && !canRepeat {
		return mono.Never
	}
	return s.pacer.next
}

// maybeIdle follows whatever takes packets out of the buffer: it ends the time
// with data to send once nothing is left.
func (c *Conn) maybeIdle(now mono.Time) {
	if c.snd.buf.n == 0 && c.snd.busySince != 0 {
		c.stats.sndBusy += now.Sub(c.snd.busySince)
		c.snd.busySince = 0
	}
}

// Unacked returns the number of messages held for the peer.
func (c *Conn) Unacked() int { return c.snd.buf.n }

// Send takes one message in buf (payload set, header free) that the application
// handed over at origin. It returns false, and leaves buf with the caller, when
// the connection is closing or the buffer is full.
func (c *Conn) Send(now mono.Time, buf *dgram.Buf, origin mono.Time) bool {
	if c.state != stateConnected || buf.Len()-wire.HeaderSize > c.snd.room {
		return false
	}
	c.check.mutate(now)
	c.sndDropTooLate(now)
	if c.snd.buf.full() {
		c.noteWait(now, RecSndFull)
		return false
	}
	wire.DataHeader{
		Seq: c.snd.buf.next(), PP: wire.PPSolo, MsgNo: c.snd.msgNo,
		Timestamp: c.timestamp(origin), Dest: c.peerID,
	}.Put(buf.Header())
	c.snd.msgNo = c.snd.msgNo.Next()
	if c.snd.buf.n == 0 {
		c.snd.busySince = now
	}
	c.snd.buf.push(buf)
	c.snd.pacer.input(now, buf.Len()-wire.HeaderSize)
	c.snd.budget.setRate(int(c.snd.pacer.measured))
	return true
}

// sendQuantum bounds the packets one connection sends in one turn of the loop.
const sendQuantum = 128

// pollData appends due packets: retransmissions first, then new ones, as far as
// pacing and the flow window allow (draft section 4.8.2).
func (c *Conn) pollData(now mono.Time, b *dgram.Batch) (more bool) {
	if c.snd.buf.n == 0 {
		return false
	}
	for range sendQuantum {
		if !c.snd.pacer.due(now) {
			return false
		}
		if c.retransmit(now, b) {
			continue
		}
		if c.snd.buf.sent == c.snd.buf.n {
			return false
		}
		if !c.windowOpen() {
			c.noteWait(now, RecSndWindow)
			return false
		}
		c.sendNew(now, b)
	}
	return true
}

// windowOpen reports whether the peer's receiver has room for a new packet.
func (c *Conn) windowOpen() bool { return c.snd.buf.sent < c.snd.window }

func (c *Conn) sendNew(now mono.Time, b *dgram.Batch) {
	slot := c.snd.buf.at(c.snd.buf.sent)
	c.sealNew(now, slot.buf)
	c.snd.buf.sent++
	payload := c.transmit(now, b, slot)
	c.stats.sentUnique.add(payload)
	c.snd.budget.earn(payload, c.snd.pacer.overhead)
	c.snd.tail.sent(now, c)
}

// transmit appends the packet of slot and accounts for it.
func (c *Conn) transmit(now mono.Time, b *dgram.Batch, slot *sndSlot) (payload int) {
	payload = slot.buf.Len() - wire.HeaderSize
	b.AddData(slot.buf.Bytes(), c.peer, c.local)
	slot.sentAt = uint32(now.Micros())
	c.stats.sent.add(payload)
	c.snd.pacer.sent(now, payload)
	c.live.said(now)
	return payload
}

// stampTime returns the local instant that an own time stamp means, near now.
func (c *Conn) stampTime(now mono.Time, ts wire.Timestamp) mono.Time {
	return now.Add(time.Duration(int32(ts-c.timestamp(now))) * time.Microsecond)
}
