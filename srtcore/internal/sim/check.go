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
// waits for those before it.
func (f Flow) WantOnTime() {
	s := f.To
	tb := s.Host.World.TB
	tb.Helper()
	bad, before := 0, mono.Time(0)
	for i, r := range s.Received {
		due := max(s.playTime(r.Seq), s.arrived[r.Seq].at)
		if !s.Config.TLPktDrop {
			due = max(due, before)
		}
		before = due
		early, late := due.Sub(r.At) > slack, r.At.Sub(due) > slack+s.Host.World.Tick
		if !early && !late {
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
