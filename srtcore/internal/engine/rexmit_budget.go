package engine

// rexmitBudget bounds retransmission to OverheadBW percent of what is newly
// sent, plus a burst. On a link that is too slow, repeating everything would
// only add to the queue.
type rexmitBudget struct {
	tokens int // bytes; starts full
	cap    int
	begun  bool
}

// minRexmitBurst is the least burst: 256 full packets.
const minRexmitBurst = 256 * 1500

// earn adds the share of one new packet.
func (r *rexmitBudget) earn(payload, percent int) {
	r.begin()
	r.tokens = min(r.tokens+(payload+wireOverhead)*percent/100, r.cap)
}

func (r *rexmitBudget) begin() {
	if !r.begun {
		r.begun, r.cap, r.tokens = true, minRexmitBurst, minRexmitBurst
	}
}

// grant sees to it that at least n bytes may be spent.
func (r *rexmitBudget) grant(n int) {
	r.begin()
	r.tokens = max(r.tokens, n)
}

// spend takes the bytes of one retransmission, if they are there.
func (r *rexmitBudget) spend(n int) bool {
	r.begin()
	if r.tokens < n {
		return false
	}
	r.tokens -= n
	return true
}

// setRate lets the burst grow to one second of the input, so that an outage
// of the link can be repaired whole.
func (r *rexmitBudget) setRate(bytesPerSecond int) {
	r.begin()
	burst := max(minRexmitBurst, bytesPerSecond)
	if burst > r.cap {
		r.tokens += burst - r.cap
	}
	r.tokens, r.cap = min(r.tokens, burst), burst
}
