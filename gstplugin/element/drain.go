package element

import (
	"time"

	"github.com/weirline/weirline/gstplugin/props"
)

// drainSlack is added to the time a peer needs to receive and play the last
// packet. Both sides work on ticks of some milliseconds; and a receiver counts from
// when it saw the handshake, so that one that had to wait for a processor then, 50
// ms on a busy machine, plays everything that much later.
const drainSlack = 100 * time.Millisecond

// Drain waits until every peer had time to receive and play what was written:
// the last packet's time plus the peer's latency plus a round trip. A peer's
// SHUTDOWN would otherwise cut off what is within its latency. It returns at once
// with drain-on-eos=false.
func (s *Sink) Drain() Status {
	r := s.current()
	if r == nil {
		return Flushing
	}
	if s.written.IsZero() || !s.settings.GetBool(props.DrainOnEOS) {
		return OK
	}
	until := map[*peer]time.Time{}
	for _, p := range r.peers() {
		until[p] = s.written.Add(p.conn.PeerLatency() + roundTrip(p) + drainSlack)
	}
	for {
		left, changed, status := r.drainLeft(until)
		if left <= 0 || status != OK {
			return status
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-changed:
		}
		timer.Stop()
	}
}

func roundTrip(p *peer) time.Duration {
	return time.Duration(p.conn.Stats().MsRTT * float64(time.Millisecond))
}

// drainLeft is how long the slowest of those that are still there needs.
func (r *run) drainLeft(until map[*peer]time.Time) (left time.Duration, changed <-chan struct{}, s Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unlocked || r.stopping() {
		return 0, nil, Flushing
	}
	for _, p := range r.live {
		if t, ok := until[p]; ok {
			left = max(left, time.Until(t))
		}
	}
	return left, r.changed, OK
}
