package engine

import (
	"slices"
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
//
// Nor is every ACK noted as long as nothing else is: so many that those of
// recordTime fill half of the room. See calm.
type recorder struct {
	chunk   *recordBlock // being filled
	n       uint32       // records in it
	rcvMark seq.Number   // first number received and not in a run yet
	sndMark seq.Number   // the same of those sent
	stir    stirred      // by something unusual
	waiting bool         // RecSndWindow was noted since the last ACK
	rcvLast lastOfRun
	sndLast lastOfRun
	skipped uint32        // number of the last ACK from the peer that was not noted
	every   time.Duration // distance of ACKs that are noted at least
	acked   mono.Time     // the last one sent that was noted
	heard   mono.Time     // the last one from the peer
	answer  mono.Time     // the last ACKACK from the peer
	before  mono.Time     // arrival of the last packet before the unusual one

	full   []*recordBlock
	most   uint32 // chunks, with the one being filled
	losses uint32 // chunks that were given up
}

// stirred says what is to be noted in any case, something unusual having been.
type stirred uint8

const (
	stirACK stirred = 1 << iota
	stirHeard
	stirAnswer
	stirAll = stirACK | stirHeard | stirAnswer
)

// lastOfRun is what a run has of its last packet, kept while the buffer may let
// go of it. at is for what is sent only.
type lastOfRun struct {
	stamp uint32
	size  uint16
	at    mono.Time
}

// recordBlock is a chunk.
type recordBlock [recordChunk]Record

const (
	// recordChunk is how many records are allocated at once: 8 KiB.
	recordChunk = 256
	// recordTime is how long records are worth more than memory.
	recordTime = 30 * time.Second
	// perACK is how many records a noted ACK makes at most: the run before it, and
	// its ACKACK.
	perACK = 3
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
	chunks := max((n+recordChunk-1)/recordChunk, 2)
	return &recorder{n: recordChunk, most: uint32(chunks), every: recordTime * perACK * 2 / time.Duration(chunks*recordChunk)}
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
func (r *recorder) put(rec Record) {
	*r.next(rec.At) = rec
	r.stir = stirAll
}

// calm reports whether one of those that come every few milliseconds is not
// noted: the last of its kind was, just before, and nothing unusual has come
// since.
func (r *recorder) calm(now mono.Time, kind stirred, noted *mono.Time) bool {
	if r.stir&kind == 0 && now.Sub(*noted) < r.every {
		return true
	}
	r.stir &^= kind
	*noted = now
	return false
}

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

// Recorded is a copy of a flight recorder, as it is kept.
type Recorded struct {
	Lost  uint64 // records that were given up before
	raw   []Record
	epoch mono.Time
	base  wire.Timestamp
}

// Recorded copies the flight recorder into room, which is replaced if it is too
// small; nothing if the connection has none. The loop stands still meanwhile, so
// the caller brings the memory, and all else is done later, by Records.
func (c *Conn) Recorded(now mono.Time, room []Record) Recorded {
	r := c.rcv.rec
	if r == nil {
		return Recorded{}
	}
	c.closeRuns(now)
	raw := slices.Grow(room[:0], (len(r.full)+1)*recordChunk)
	for _, f := range r.full {
		raw = append(raw, f[:]...)
	}
	if r.chunk != nil {
		raw = append(raw, r.chunk[:r.n]...)
	}
	return Recorded{Lost: uint64(r.losses) * recordChunk, raw: raw, epoch: c.epoch, base: c.base}
}

// RecordRoom returns room for what a recorder of n records holds, ready to be
// written to: its pages are there.
func RecordRoom(n int) []Record {
	if n <= 0 {
		return nil
	}
	room := make([]Record, n+2*recordChunk)
	clear(room)
	return room[:0]
}

// Records returns the records, oldest first, and those among them that others
// imply.
func (r Recorded) Records() []Record {
	out := make([]Record, 0, len(r.raw)+len(r.raw)/4)
	for _, rec := range r.raw {
		answered := rec.Flags&recAnswered != 0
		rec.Flags &^= recAnswered
		out = append(out, rec)
		if answered {
			out = append(out, Record{
				Kind: RecACKACK, Flags: RecSent, At: rec.At, Info: rec.Info, Stamp: uint32(timestampAt(rec.At, r.epoch, r.base)),
			})
		}
	}
	return out
}
