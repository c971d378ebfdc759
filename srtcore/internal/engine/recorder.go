package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// recorder is the flight recorder of a connection: what was said and decided
// lately. Undisturbed data costs nothing: its packets are not noted one by one
// but as runs, which what the buffers know anyway tells whenever something else
// is noted (decision 0018).
//
// Records stand in chunks that are made when needed and used again once they are
// older than recordTime, or when there are as many as allowed. So memory follows
// what happens on the connection, and in the steady state none is allocated.
type recorder struct {
	chunk   *recordBlock // being filled
	n       uint32       // records in it
	rcvMark seq.Number   // first number received and not in a run yet
	sndMark seq.Number   // the same of those sent
	waiting bool         // RecSndWindow was noted since the last ACK
	before  mono.Time    // arrival of the last packet before the unusual one

	full   []*recordBlock
	most   uint32 // chunks, with the one being filled
	losses uint32 // chunks that were given up
}

// recordBlock is a chunk.
type recordBlock [recordChunk]Record

const (
	// recordChunk is how many records are allocated at once: 8 KiB.
	recordChunk = 256
	// recordTime is how long records are worth more than memory.
	recordTime = 30 * time.Second
	// lateMargin is how late a message is handed over before that is noted.
	lateMargin = 20 * time.Millisecond
	// maxRanges bounds what is noted of one NAK from the peer, so that a forged
	// one cannot wash away everything before it.
	maxRanges = 64
	// everyTry repetitions of a NAK are noted each; later ones at powers of two.
	everyTry = 4
)

// newRecorder returns a recorder of about n records; nil for none.
func newRecorder(n int) *recorder {
	if n <= 0 {
		return nil
	}
	return &recorder{n: recordChunk, most: uint32(max((n+recordChunk-1)/recordChunk, 2))}
}

// next returns the place of the next record. What undisturbed data brings is
// written there field by field, all of them: a record that is made elsewhere and
// copied costs several times as much.
func (r *recorder) next(now mono.Time) *Record {
	if r.n == recordChunk {
		r.turn(now)
	}
	rec := &r.chunk[r.n]
	r.n++
	return rec
}

// put notes rec, which is not of those that come every few milliseconds.
func (r *recorder) put(rec Record) { *r.next(rec.At) = rec }

// last returns the latest record; nil if there is none.
func (r *recorder) last() *Record {
	if r.chunk == nil {
		return nil
	}
	return &r.chunk[r.n-1]
}

// turn begins a new chunk, if possible in the place of the oldest.
func (r *recorder) turn(now mono.Time) {
	if r.chunk != nil {
		r.full = append(r.full, r.chunk)
	}
	var free *recordBlock
	for len(r.full) > 0 && (len(r.full) >= int(r.most) || now.Sub(r.full[0][recordChunk-1].At) > recordTime) {
		free = r.full[0]
		r.losses++
		r.full = r.full[:copy(r.full, r.full[1:])]
	}
	if free == nil {
		free = new(recordBlock)
	}
	r.chunk, r.n = free, 0
}

// merge adds rec to the last record if it goes on with it: the same kind, the
// next number.
func (r *recorder) merge(rec Record) {
	if last := r.last(); last != nil && last.Kind == rec.Kind && last.Seq+last.Count == rec.Seq {
		last.Count += rec.Count
		last.Aux = max(last.Aux, rec.Aux)
		return
	}
	r.put(rec)
}

// Records returns a copy of what the flight recorder holds, oldest first, and
// how many records were given up before; nil if the connection has none.
func (c *Conn) Records(now mono.Time) (records []Record, lost uint64) {
	r := c.rcv.rec
	if r == nil {
		return nil, 0
	}
	c.closeRuns(now)
	out := make([]Record, 0, (len(r.full)+2)*recordChunk)
	for _, f := range r.full {
		out = c.unfold(out, f[:])
	}
	if r.chunk != nil {
		out = c.unfold(out, r.chunk[:r.n])
	}
	return out, uint64(r.losses) * recordChunk
}

// unfold appends records, and those that others imply.
func (c *Conn) unfold(out, in []Record) []Record {
	for _, rec := range in {
		answered := rec.Flags&recAnswered != 0
		rec.Flags &^= recAnswered
		out = append(out, rec)
		if answered {
			out = append(out, Record{
				Kind: RecACKACK, Flags: RecSent, At: rec.At, Info: rec.Info, Stamp: uint32(c.timestamp(rec.At)),
			})
		}
	}
	return out
}

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
	rec := r.next(c.rcv.rate.lastAt)
	rec.Kind, rec.Flags, rec.Size = RecRcvRun, 0, 0
	rec.At, rec.Seq, rec.Count = c.rcv.rate.lastAt, uint32(r.rcvMark), uint32(n)
	rec.Stamp, rec.Aux, rec.Info = 0, 0, 0
	if b.span > 0 {
		s := b.slot(b.span - 1)
		rec.Stamp, rec.Size = uint32(s.stamp), s.size
	}
	r.rcvMark = b.end()
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
	rec := r.next(now)
	rec.Kind, rec.Flags, rec.Size = RecSndRun, 0, 0
	rec.At, rec.Seq, rec.Count = c.live.lastSaid, uint32(r.sndMark), uint32(n)
	rec.Stamp, rec.Aux, rec.Info = 0, 0, 0
	if b.sent > 0 {
		s := b.at(b.sent - 1)
		rec.Stamp, rec.Size = uint32(s.stamp), uint16(s.buf.Len()-wire.HeaderSize)
		rec.At = now.Add(-s.since(now))
	}
	r.sndMark = b.nextNew()
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
	last := c.rcv.rec.last()
	if last != nil && last.Kind == RecACK && last.Flags == 0 && last.Info == h.Info && last.At == now {
		last.Flags = recAnswered
		return
	}
	c.noteControl(now, RecACKACK, RecSent, h.Info, h.Timestamp)
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
	c.closeRcvRun()
	rec := c.rcv.rec.next(now)
	rec.Kind, rec.Flags, rec.Size, rec.At = RecACK, RecSent, 0, now
	rec.Seq, rec.Count, rec.Aux, rec.Info = uint32(a.LastAckSeq), a.AvailBufPkts, a.RTTUs, no
	rec.Stamp = uint32(c.timestamp(now))
}

// noteAcked does the same at the other end.
func (c *Conn) noteAcked(now mono.Time, h *wire.ControlHeader, a *wire.ACK) {
	c.rcv.rec.waiting = false
	c.closeSndRun(now)
	rec := c.rcv.rec.next(now)
	rec.Kind, rec.Flags, rec.Size, rec.At = RecACK, 0, 0, now
	rec.Seq, rec.Count, rec.Aux, rec.Info = uint32(a.LastAckSeq), a.AvailBufPkts, a.RTTUs, h.Info
	rec.Stamp = uint32(h.Timestamp)
}

// noteRTT notes an ACKACK and the round-trip time that it measured.
func (c *Conn) noteRTT(now mono.Time, h *wire.ControlHeader, sample time.Duration) {
	rec := c.rcv.rec.next(now)
	rec.Kind, rec.Flags, rec.Size, rec.At = RecACKACK, 0, 0, now
	rec.Seq, rec.Count, rec.Aux, rec.Info = 0, 0, us(sample), h.Info
	rec.Stamp = uint32(h.Timestamp)
}
