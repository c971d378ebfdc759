package engine

import "time"

// rtt is the smoothed round-trip time (draft section 4.10).
type rtt struct {
	smoothed time.Duration
	variance time.Duration
	first    time.Duration // first sample, for the drift
	sampled  bool          // by own ACK/ACKACK exchange
	learned  bool          // or taken from the peer's ACK
}

const (
	initialRTT    = 100 * time.Millisecond
	initialRTTVar = 50 * time.Millisecond
)

func (r *rtt) init() { r.smoothed, r.variance = initialRTT, initialRTTVar }

// sample takes the time from a full ACK to its ACKACK.
func (r *rtt) sample(s time.Duration) {
	if !r.sampled {
		r.sampled, r.first = true, s
		r.smoothed, r.variance = s, s/2
		return
	}
	d := r.smoothed - s
	if d < 0 {
		d = -d
	}
	r.variance = (3*r.variance + d) / 4
	r.smoothed = (7*r.smoothed + s) / 8
}

// learn takes the values of the peer's ACK; a side that measures itself keeps
// its own.
func (r *rtt) learn(smoothedUs, varianceUs uint32) {
	if r.sampled || (smoothedUs == uint32(initialRTT/time.Microsecond) && varianceUs == uint32(initialRTTVar/time.Microsecond)) {
		return
	}
	// A peer cannot make this side wait longer than a minute.
	r.smoothed = min(time.Duration(smoothedUs)*time.Microsecond, time.Minute)
	r.variance = min(time.Duration(varianceUs)*time.Microsecond, time.Minute)
	r.learned = true
}

// known reports whether there is more than the initial guess.
func (r *rtt) known() bool { return r.sampled || r.learned }

// timeout is the time after which an answer counts as lost.
func (r *rtt) timeout() time.Duration { return r.smoothed + 4*r.variance }
