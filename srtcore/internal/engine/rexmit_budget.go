package engine

// rexmitBudget bounds retransmission to OverheadBW percent of what is newly
// sent, plus a burst. On a link that is too slow, repeating everything would
// only add to the queue.
type rexmitBudget struct {
	tokens int // bytes; starts full
	cap    int // bytes
	peak   int // the largest cap so far
}

// minRexmitBurst is the least burst: 256 full packets.
const minRexmitBurst = 256 * 1500

func (r *rexmitBudget) init() {
	r.tokens, r.cap, r.peak = minRexmitBurst, minRexmitBurst, minRexmitBurst
}

// earn adds the share of one new packet.
func (r *rexmitBudget) earn(payload, percent int) {
	r.tokens = min(r.tokens+(payload+wireOverhead)*percent/100, r.cap)
}

// grant sees to it that at least n bytes may be spent.
func (r *rexmitBudget) grant(n int) { r.tokens = max(r.tokens, n) }

// spend takes the bytes of one retransmission, if they are there.
func (r *rexmitBudget) spend(n int) bool {
	if r.tokens < n {
		return false
	}
	r.tokens -= n
	return true
}

// setRate makes the burst one second of the input, so that an outage of the
// link can be repaired whole. Only a new peak fills it: an input that goes up
// and down does not pay for itself.
func (r *rexmitBudget) setRate(bytesPerSecond int) {
	r.cap = max(minRexmitBurst, bytesPerSecond)
	if r.cap > r.peak {
		r.tokens += r.cap - r.peak
		r.peak = r.cap
	}
	r.tokens = min(r.tokens, r.cap)
}
