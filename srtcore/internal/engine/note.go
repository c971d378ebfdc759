package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// us is a duration as a record has it; longer than 35 minutes is 35 minutes.
func us(d time.Duration) uint32 {
	const most = 1<<31 - 1
	return uint32(int32(min(max(d.Microseconds(), -most), most)))
}

// closeRuns notes the packets that came and went undisturbed since the last
// record.
func (c *Conn) closeRuns(now mono.Time) {
	if c.rcv.rec != nil && c.state >= stateConnected && c.state != stateDead {
		c.closeRcvRun()
		c.closeSndRun(now)
	}
}

func (c *Conn) closeRcvRun() {
	r, b := c.rcv.rec, &c.rcv.buf
	n := b.end().Sub(r.rcvMark)
	if n <= 0 {
		return
	}
	c.keepRcvLast()
	rec := r.next(c.rcv.rate.lastAt)
	rec.Kind, rec.Flags, rec.Size = RecRcvRun, 0, r.rcvLast.size
	rec.At, rec.Seq, rec.Count = c.rcv.rate.lastAt, uint32(r.rcvMark), uint32(n)
	rec.Stamp, rec.Aux, rec.Info = r.rcvLast.stamp, 0, 0
	r.rcvMark, r.rcvLast = b.end(), lastOfRun{}
}

// keepRcvLast keeps what is known of the last packet received.
func (c *Conn) keepRcvLast() {
	if b := &c.rcv.buf; b.span > 0 {
		s := b.slot(b.span - 1)
		c.rcv.rec.rcvLast.stamp, c.rcv.rec.rcvLast.size = uint32(s.stamp), s.size
	}
}

// noteUnusual precedes the judging of a data packet that is not the next one. It
// is kept out of handleData, where it is hardly ever called.
//
//go:noinline
func (c *Conn) noteUnusual() {
	c.rcv.rec.before = c.rcv.rate.lastAt
	c.closeRcvRun()
}

func (c *Conn) closeSndRun(now mono.Time) {
	r, b := c.rcv.rec, &c.snd.buf
	n := b.nextNew().Sub(r.sndMark)
	if n <= 0 {
		return
	}
	c.keepSndLast(now)
	rec := r.next(now)
	rec.Kind, rec.Flags, rec.Size = RecSndRun, 0, r.sndLast.size
	rec.At, rec.Seq, rec.Count = r.sndLast.at, uint32(r.sndMark), uint32(n)
	rec.Stamp, rec.Aux, rec.Info = r.sndLast.stamp, 0, 0
	if rec.At == 0 {
		rec.At = c.live.lastSaid
	}
	r.sndMark, r.sndLast = b.nextNew(), lastOfRun{}
}

// keepSndLast keeps what is known of the last packet sent.
func (c *Conn) keepSndLast(now mono.Time) {
	if b := &c.snd.buf; b.sent > 0 {
		s := b.at(b.sent - 1)
		c.rcv.rec.sndLast = lastOfRun{uint32(s.stamp), uint16(s.buf.Len() - wire.HeaderSize), now.Add(-s.since(now))}
	}
}

// noteConnected begins the record of an established connection.
func (c *Conn) noteConnected(now mono.Time) {
	r := c.rcv.rec
	if r == nil {
		return
	}
	r.rcvMark, r.sndMark = c.initSeq, c.initSeq
	r.put(Record{Kind: RecConnected, At: now, Seq: uint32(c.initSeq), Aux: us(c.rcvDelay), Info: us(c.peerDelay)})
}

// noteGone: the peer is gone; silent says that it did not take its leave.
func (c *Conn) noteGone(now mono.Time, silent bool) {
	if c.rcv.rec == nil {
		return
	}
	c.closeRuns(now)
	rec := Record{Kind: RecPeerGone, At: now}
	if silent {
		rec.Info = 1
	}
	c.rcv.rec.put(rec)
}

// noteMissing follows the packet h that showed that first..last are missing.
func (c *Conn) noteMissing(now mono.Time, first, last seq.Number, h wire.DataHeader) {
	r := c.rcv.rec
	if r == nil {
		return
	}
	rec := Record{Kind: RecRcvGap, At: now, Seq: uint32(first), Count: uint32(last.Sub(first) + 1), Stamp: uint32(h.Timestamp)}
	if r.before != 0 {
		rec.Aux = us(now.Sub(r.before))
	}
	if c.tsbpdOn() {
		rec.Info = us(c.rcv.tsbpd.playTime(now, h.Timestamp).Sub(now))
	}
	r.put(rec)
	r.rcvMark = last.Next()
}

// noteData notes a single data packet that was received.
func (c *Conn) noteData(now mono.Time, k RecordKind, f RecordFlags, h wire.DataHeader, payload int) {
	if c.rcv.rec == nil {
		return
	}
	if h.Rexmit {
		f |= RecRexmit
	}
	rec := Record{Kind: k, Flags: f, At: now, Seq: uint32(h.Seq), Count: 1, Stamp: uint32(h.Timestamp), Size: uint16(payload)}
	if c.tsbpdOn() {
		late := now.Sub(c.rcv.tsbpd.playTime(now, h.Timestamp))
		switch k {
		case RecRcvFill:
			rec.Aux = us(-late)
		case RecRcvBelated:
			rec.Aux = us(late)
		}
	}
	if k == RecRcvUndecrypt {
		rec.Info = uint32(h.KK)
	}
	if k == RecRcvNoRoom || k == RecRcvUndecrypt {
		c.rcv.rec.merge(rec)
		return
	}
	c.rcv.rec.put(rec)
}

// noteBelated notes a packet that is there already, or no longer wanted.
func (c *Conn) noteBelated(now mono.Time, h wire.DataHeader, off, payload int) {
	var f RecordFlags
	if off >= 0 {
		f = RecDouble
	}
	c.noteData(now, RecRcvBelated, f, h, payload)
}

// noteDropReq notes that the peer is told what is no longer held.
func (c *Conn) noteDropReq(now mono.Time, r wire.SeqRange) {
	if c.rcv.rec != nil {
		c.rcv.rec.put(Record{
			Kind: RecDropReq, Flags: RecSent, At: now, Seq: uint32(r.First), Count: uint32(r.Len()),
			Stamp: uint32(c.timestamp(now)),
		})
	}
}

// noteRange notes a decision about k numbers.
func (c *Conn) noteRange(now mono.Time, k RecordKind, first seq.Number, n int) {
	if c.rcv.rec != nil {
		c.rcv.rec.put(Record{Kind: k, At: now, Seq: uint32(first), Count: uint32(n)})
	}
}

// noteSkipped follows what moves the end of what was received past numbers that
// never came.
func (c *Conn) noteSkipped() {
	if c.rcv.rec != nil {
		c.rcv.rec.rcvMark = c.rcv.buf.end()
	}
}

// noteLate notes messages that are handed over late.
func (c *Conn) noteLate(now mono.Time, msgs []Message) {
	late := now.Sub(msgs[0].Source) - c.rcv.tsbpd.delay
	c.rcv.rec.merge(Record{Kind: RecRcvLate, At: now, Seq: uint32(msgs[0].Seq), Count: uint32(len(msgs)), Aux: us(late)})
}

// noteAsked notes one range of a NAK that is sent.
func (c *Conn) noteAsked(now mono.Time, l *lossRange[lossInfo]) {
	n := l.info.tries
	if c.rcv.rec == nil || n > everyTry && n&(n-1) != 0 {
		return
	}
	c.rcv.rec.put(Record{
		Kind: RecNAK, Flags: RecSent, At: now, Seq: uint32(l.first), Count: uint32(l.size()), Info: uint32(n),
		Stamp: uint32(c.timestamp(now)),
	})
}

// noteWanted notes what the peer asks for.
func (c *Conn) noteWanted(now mono.Time, ranges []wire.SeqRange) {
	if c.rcv.rec == nil {
		return
	}
	c.closeSndRun(now)
	for _, r := range ranges[:min(len(ranges), maxRanges)] {
		c.rcv.rec.put(Record{Kind: RecNAK, At: now, Seq: uint32(r.First), Count: uint32(r.Len())})
	}
}

// noteAgain notes a retransmission, before the packet is sent.
func (c *Conn) noteAgain(now mono.Time, s seq.Number, slot *sndSlot) {
	if c.rcv.rec == nil {
		return
	}
	c.closeSndRun(now)
	c.rcv.rec.put(Record{
		Kind: RecSndRexmit, Flags: RecRexmit, At: now, Seq: uint32(s), Count: 1, Stamp: uint32(slot.stamp),
		Aux: us(slot.since(now)), Size: uint16(slot.buf.Len() - wire.HeaderSize),
	})
}

// noteSndDrop notes that the oldest n messages are about to be dropped.
func (c *Conn) noteSndDrop(now mono.Time, n int) {
	if c.rcv.rec == nil {
		return
	}
	c.closeSndRun(now)
	b := &c.snd.buf
	c.rcv.rec.merge(Record{
		Kind: RecSndDrop, At: now, Seq: uint32(b.first), Count: uint32(n),
		Aux: us(now.Sub(c.stampTime(now, b.at(0).stamp))), Info: uint32(max(n-b.sent, 0)),
	})
	c.rcv.rec.sndMark = b.first.Add(max(n, b.sent))
}

// noteWait notes that sending is held up, once for as long as it lasts.
func (c *Conn) noteWait(now mono.Time, k RecordKind) {
	r := c.rcv.rec
	if r == nil || k == RecSndWindow && r.waiting {
		return
	}
	if k == RecSndWindow {
		r.waiting = true
	}
	if last := r.last(); last != nil && last.Kind == k {
		last.Count++
		return
	}
	r.put(Record{Kind: k, At: now, Seq: uint32(c.snd.buf.nextNew()), Count: 1})
}
