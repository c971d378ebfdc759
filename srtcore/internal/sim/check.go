package sim

import (
	"slices"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// slack is how far a delivery may be from its time.
const slack = time.Millisecond

// Flow is what one end sent to the other, for checking.
type Flow struct{ From, To *Session }

// Missing returns the numbers that were sent and not delivered. Order, doubles
// and content are checked on the way.
func (f Flow) Missing() []uint32 {
	tb := f.To.Host.World.TB
	tb.Helper()
	got := f.To.Indexes()
	for i := 1; i < len(got); i++ {
		if got[i] <= got[i-1] {
			tb.Errorf("message %d delivered after %d", got[i], got[i-1])
		}
	}
	var missing []uint32
	for _, s := range f.From.Sent {
		if _, ok := slices.BinarySearch(got, s.Index); !ok {
			missing = append(missing, s.Index)
		}
	}
	if len(got)+len(missing) != len(f.From.Sent) {
		tb.Errorf("%d delivered and %d missing of %d sent", len(got), len(missing), len(f.From.Sent))
	}
	return missing
}

// WantComplete fails the test if a message is missing.
func (f Flow) WantComplete() {
	tb := f.To.Host.World.TB
	tb.Helper()
	if m := f.Missing(); len(m) > 0 {
		tb.Errorf("%d of %d messages missing, the first are %v", len(m), len(f.From.Sent), m[:min(len(m), 10)])
	}
}

// WantOnTime fails the test if a message was not delivered at its play time, or
// when it arrived if that was later. With too-late drop off a message also
// waits for those before it; behind one that never came it waits for the end.
func (f Flow) WantOnTime() {
	f.To.Host.World.TB.Helper()
	f.wantTimes(false)
}

// WantNotEarly is WantOnTime without a bound on lateness, for a receiver that
// refused packets for want of room: they have to come again.
func (f Flow) WantNotEarly() {
	f.To.Host.World.TB.Helper()
	f.wantTimes(true)
}

func (f Flow) wantTimes(mayBeLate bool) {
	s := f.To
	tb := s.Host.World.TB
	tb.Helper()
	bad, before, next := 0, mono.Time(0), s.initSeq
	for i, r := range s.Received {
		due := max(s.playTime(r.Seq), s.arrived[r.Seq].at)
		if !s.Config.TLPktDrop {
			due = max(due, before)
		}
		hole := !s.Config.TLPktDrop && r.Seq != next
		before = due
		if !hole {
			next = r.Seq.Next()
		}
		early, late := due.Sub(r.At) > slack, r.At.Sub(due) > slack+s.Host.World.Tick
		if !early && (!late || hole || mayBeLate) {
			continue
		}
		if bad++; bad <= 5 {
			tb.Errorf("message %d (seq %d) delivered at %v, due at %v: off by %v",
				i, r.Seq, r.At.Sub(start), due.Sub(start), r.At.Sub(due))
		}
	}
	if bad > 5 {
		tb.Errorf("... and %d more not on time", bad-5)
	}
}

// Delays returns how long each message took from Send to delivery.
func (f Flow) Delays() []time.Duration {
	origin := make(map[uint32]mono.Time, len(f.From.Sent))
	for _, s := range f.From.Sent {
		origin[s.Index] = s.Origin
	}
	out := make([]time.Duration, 0, len(f.To.Received))
	for _, r := range f.To.Received {
		if i, ok := Index(r.Data); ok {
			out = append(out, r.At.Sub(origin[i]))
		}
	}
	return out
}

// WantStats holds the statistics of both ends against each other and against
// what happened; missing is the number of messages that were not delivered.
func (f Flow) WantStats(missing int) {
	tb := f.To.Host.World.TB
	tb.Helper()
	snd, rcv := f.From.Stats(), f.To.Stats()
	same := func(what string, a, b uint64) {
		tb.Helper()
		if a != b {
			tb.Errorf("%s: %d and %d should be equal", what, a, b)
		}
	}
	notMore := func(what string, a, b uint64) {
		tb.Helper()
		if a > b {
			tb.Errorf("%s: %d should not be more than %d", what, a, b)
		}
	}
	sent, delivered := uint64(len(f.From.Sent)), uint64(len(f.To.Received))
	same("sent unique + retransmitted = sent", snd.SentUnique.Packets+snd.Retrans.Packets, snd.Sent.Packets)
	same("bytes sent unique + retransmitted = sent", snd.SentUnique.Bytes+snd.Retrans.Bytes, snd.Sent.Bytes)
	notMore("sent unique, messages", snd.SentUnique.Packets, sent)
	same("received unique + undecrypted + belated = received", rcv.RecvUnique.Packets+rcv.Undecrypt.Packets+rcv.Belated.Packets+rcv.NoRoom, rcv.Recv.Packets)
	notMore("received unique, sent unique", rcv.RecvUnique.Packets, snd.SentUnique.Packets)
	notMore("delivered, received unique", delivered, rcv.RecvUnique.Packets)
	notMore("lost, sent unique", rcv.RcvLoss.Packets, snd.SentUnique.Packets)
	notMore("retransmissions received, sent", rcv.RcvRetrans, 2*snd.Retrans.Packets+4)
	// What never showed at the receiver was dropped, or still held, by the sender.
	tail := sent - min(f.seen(), sent)
	same("missing before the end = dropped", uint64(missing)-min(tail, uint64(missing)), rcv.RcvDrop.Packets)
}

// seen returns how many numbers the receiver knows of: up to the highest that
// arrived.
func (f Flow) seen() uint64 {
	if len(f.To.arrived) == 0 {
		return 0
	}
	first := f.From.initSeq
	n := 0
	for s := range f.To.arrived {
		n = max(n, s.Sub(first)+1)
	}
	return uint64(n)
}
