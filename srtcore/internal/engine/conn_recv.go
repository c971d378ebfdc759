package engine

import (
	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// receiver is the receiving half of a connection.
type receiver struct {
	tsbpd tsbpd
	// near is an instant near the time stamps of what is held: when the first
	// came, then that of the last message delivered. The application may leave
	// messages for longer than half a turn of the stamp.
	near   mono.Time
	buf    rcvBuffer
	rec    *recorder // nil: none; of both directions, here because every visit is
	ack    acker
	loss   rcvLoss
	order  reorder
	rate   rcvRate
	resync resync
}

func (r *receiver) init(c *Conn, first seq.Number) {
	r.buf.init(first, min(c.cfg.RcvBufPkts, c.cfg.FlowWindow))
	r.ack.init(first, r.buf.limit)
	r.order.init(c.cfg.LossMaxTTL)
}

// begin precedes whatever is put into the buffer.
func (r *receiver) begin(now mono.Time) {
	if r.buf.count == 0 {
		r.near = now
	}
}

func (r *receiver) release(cache *dgram.Cache) {
	r.buf.release(cache)
	r.loss.reset()
	r.ack.due = mono.Never
}

func (r *receiver) nextDeadline(c *Conn) mono.Time {
	t := mono.Min(r.ack.deadline(), r.loss.nextDeadline(c))
	if c.held || r.buf.count == 0 {
		return t
	}
	return mono.Min(t, c.nextPlay())
}

// receiving reports whether messages are taken and delivered: not by a side that
// closes.
func (c *Conn) receiving() bool { return c.state == stateConnected || c.state == stateEnding }

// handleData takes a data packet and its Buf.
func (c *Conn) handleData(now mono.Time, b *dgram.Buf) {
	h, err := wire.ParseData(b.Bytes())
	if err != nil || !c.receiving() {
		c.ep.cache.Put(b)
		return
	}
	c.live.heard(now)
	payload := b.Len() - wire.HeaderSize
	if h.MsgNo == 0 {
		// A packet-filter packet; no filter was negotiated.
		c.stats.badPackets++
		c.ep.cache.Put(b)
		return
	}
	off := h.Seq.Sub(c.rcv.buf.first)
	if off != c.rcv.buf.span && c.rcv.rec != nil {
		c.noteUnusual()
	}
	c.countReceived(now, h, payload)
	if off < 0 || c.rcv.buf.at(off) != nil {
		c.belated(now, h, off, payload)
		c.ep.cache.Put(b)
		return
	}
	if off >= c.rcv.buf.limit {
		if !c.catchUp(now, h.Seq, off) {
			c.stats.noRoom++ // not lost yet: it will be asked for again
			c.noteData(now, RecRcvNoRoom, 0, h, payload)
			c.ep.cache.Put(b)
			return
		}
		off = 0
	}
	c.rcv.resync.run = 0
	c.rcv.begin(now)
	c.noteGap(now, h, off, payload)
	c.rcv.tsbpd.tame(now, b.Header())
	c.rcv.buf.put(off, c.open(now, b, h, payload))
	c.rcv.ack.onData(now, c)
}

// countReceived accounts for a data packet before it is judged.
func (c *Conn) countReceived(now mono.Time, h wire.DataHeader, payload int) {
	c.stats.recv.add(payload)
	c.rcv.rate.add(now, payload, h.Seq)
	if h.Rexmit {
		c.stats.rcvRetrans++
	}
}

// belated counts a duplicate or a packet that came too late to matter.
func (c *Conn) belated(now mono.Time, h wire.DataHeader, off, payload int) {
	c.stats.rcvBelated.add(0)
	c.noteBelated(now, h, off, payload)
	if h.Seq.Less(c.rcv.buf.first) && c.tsbpdOn() {
		late := now.Sub(c.rcv.tsbpd.playTime(now, h.Timestamp))
		if late > 0 {
			c.stats.belatedTime += (late - c.stats.belatedTime) / 8
		}
	}
	// A duplicate may mean that the ACK was lost.
	c.rcv.ack.wake(now)
}

// noteGap lists what is missing before a new number, or unlists it.
func (c *Conn) noteGap(now mono.Time, h wire.DataHeader, off, payload int) {
	if off < c.rcv.buf.span {
		c.noteData(now, RecRcvFill, 0, h, payload)
		c.rcv.order.late(c.rcv.buf.span-1-off, h.Rexmit, &c.stats)
		c.rcv.loss.remove(h.Seq)
		return
	}
	c.rcv.loss.countDown()
	c.rcv.order.ahead(off == c.rcv.buf.span)
	if off > c.rcv.buf.span {
		c.noteMissing(now, c.rcv.buf.end(), h.Seq.Prev(), h)
		c.gap(now, c.rcv.buf.end(), h.Seq.Prev())
	}
}

// open decrypts b in place and returns what goes into the ring: b, or a
// tombstone if it cannot be read. Either way it counts as received.
func (c *Conn) open(now mono.Time, b *dgram.Buf, h wire.DataHeader, payload int) *dgram.Buf {
	if c.km.open(b.Payload(), h) {
		c.stats.recvUnique.add(payload)
		return b
	}
	c.stats.undecrypt.add(payload)
	c.noteData(now, RecRcvUndecrypt, 0, h, payload)
	c.stats.rcvDrop.add(payload)
	c.ep.cache.Put(b)
	return tombstone
}

// PollMessages appends the messages whose play time has come, as many as dst
// has capacity for. The caller owns their Bufs.
func (c *Conn) PollMessages(now mono.Time, dst []Message) []Message {
	c.held = false
	if !c.receiving() {
		return dst
	}
	had := len(dst)
	for c.ready(now) {
		if len(dst) == cap(dst) {
			c.held = true
			break
		}
		dst = c.deliver(now, dst)
	}
	if c.rcv.rec != nil && len(dst) > had && now.Sub(dst[had].Source) > c.rcv.tsbpd.delay+lateMargin {
		c.noteLate(now, dst[had:])
	}
	return dst
}

// ready skips what can no longer come and reports whether the first packet is
// due.
func (c *Conn) ready(now mono.Time) bool {
	r := &c.rcv.buf
	for r.count > 0 {
		b := r.at(0)
		switch {
		case b == tombstone:
			r.pop()
		case b != nil:
			return !c.tsbpdOn() || c.handTime() <= now
		case !c.skipHole(now):
			return false
		}
	}
	return false
}

func (c *Conn) deliver(now mono.Time, dst []Message) []Message {
	s := c.rcv.buf.first
	m := Message{Seq: s, Source: now}
	if c.tsbpdOn() {
		m.Source = c.playTime(0).Add(-c.rcv.tsbpd.delay)
		c.rcv.near = m.Source
	}
	m.Buf = c.rcv.buf.pop()
	if c.rcv.ack.reopened(c) {
		c.rcv.ack.due = now
		c.ctl.fullACK = true
	}
	return append(dst, m)
}
