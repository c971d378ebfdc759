package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// noteControl notes a control packet that is a header and hardly more.
func (c *Conn) noteControl(now mono.Time, k RecordKind, f RecordFlags, info uint32, ts wire.Timestamp) {
	if c.rcv.rec != nil {
		c.rcv.rec.put(Record{Kind: k, Flags: f, At: now, Info: info, Stamp: uint32(ts)})
	}
}

// noteSent notes a control packet that this side sends, if it is one of those.
func (c *Conn) noteSent(now mono.Time, h wire.ControlHeader) {
	switch h.Type {
	case wire.CtrlACKACK:
		c.noteAnswer(now, h)
	case wire.CtrlKeepAlive:
		c.noteControl(now, RecKeepAlive, RecSent, 0, h.Timestamp)
	case wire.CtrlShutdown:
		c.noteControl(now, RecShutdown, RecSent, 0, h.Timestamp)
	case wire.CtrlUserDefined:
		c.noteControl(now, RecKM, RecSent, uint32(h.Subtype), h.Timestamp)
	}
}

// noteAnswer notes an ACKACK that is sent: with the ACK that it answers, if that
// came just now.
func (c *Conn) noteAnswer(now mono.Time, h wire.ControlHeader) {
	r := c.rcv.rec
	if h.Info == r.skipped {
		return
	}
	if last := r.last(); last != nil && last.Kind == RecACK && last.Flags == 0 && last.Info == h.Info && last.At == now {
		last.Flags = recAnswered
		return
	}
	rec := r.next(now)
	rec.Kind, rec.Flags, rec.Size, rec.At = RecACKACK, RecSent, 0, now
	rec.Seq, rec.Count, rec.Aux, rec.Info = 0, 0, 0, h.Info
	rec.Stamp = uint32(h.Timestamp)
}

// noteHeard notes a control packet from the peer, if it is one of those that say
// little but that they came.
func (c *Conn) noteHeard(now mono.Time, h wire.ControlHeader) {
	switch h.Type {
	case wire.CtrlKeepAlive:
		c.noteControl(now, RecKeepAlive, 0, 0, h.Timestamp)
	case wire.CtrlShutdown:
		c.noteControl(now, RecShutdown, 0, 0, h.Timestamp)
	case wire.CtrlUserDefined:
		c.noteControl(now, RecKM, 0, uint32(h.Subtype), h.Timestamp)
	}
}

// noteACK notes a full ACK that is sent, and the run before it.
func (c *Conn) noteACK(now mono.Time, no uint32, a *wire.ACK) {
	r := c.rcv.rec
	if r.calm(now, stirACK, &r.acked) {
		c.keepRcvLast()
		return
	}
	c.closeRcvRun()
	rec := r.next(now)
	rec.Kind, rec.Flags, rec.Size, rec.At = RecACK, RecSent, 0, now
	rec.Seq, rec.Count, rec.Aux, rec.Info = uint32(a.LastAckSeq), a.AvailBufPkts, a.RTTUs, no
	rec.Stamp = uint32(c.timestamp(now))
}

// noteAcked does the same at the other end.
func (c *Conn) noteAcked(now mono.Time, h *wire.ControlHeader, a *wire.ACK) {
	r := c.rcv.rec
	r.waiting = false
	if r.calm(now, stirHeard, &r.heard) {
		r.skipped = h.Info
		if a.LastAckSeq == c.snd.buf.nextNew() {
			c.keepSndLast(now)
		}
		return
	}
	c.closeSndRun(now)
	rec := r.next(now)
	rec.Kind, rec.Flags, rec.Size, rec.At = RecACK, 0, 0, now
	rec.Seq, rec.Count, rec.Aux, rec.Info = uint32(a.LastAckSeq), a.AvailBufPkts, a.RTTUs, h.Info
	rec.Stamp = uint32(h.Timestamp)
}

// noteRTT notes an ACKACK and the round-trip time that it measured.
func (c *Conn) noteRTT(now mono.Time, h *wire.ControlHeader, sample time.Duration) {
	r := c.rcv.rec
	if r.calm(now, stirAnswer, &r.answer) {
		return
	}
	rec := r.next(now)
	rec.Kind, rec.Flags, rec.Size, rec.At = RecACKACK, 0, 0, now
	rec.Seq, rec.Count, rec.Aux, rec.Info = 0, 0, us(sample), h.Info
	rec.Stamp = uint32(h.Timestamp)
}
