package mpegts

import "time"

// maxPIDs bounds the PIDs that are watched: a stream may use 8191, and a
// hostile one would.
const maxPIDs = 255

const noCounter = 0xff // no continuity counter is expected

// pidState is what is known of one PID.
type pidState struct {
	pid      uint16
	counter  uint8 // of the last packet with payload
	repeated bool  // that was a duplicate
	errors   uint64
	packets  uint64
	clock    *clock   // nil: no PCR so far
	table    *section // nil: no table is expected here
}

// pids finds the state of a PID without a map: one byte a PID says which.
type pids struct {
	index [pidNull + 1]uint8 // into list, less one; 0: not seen
	list  []*pidState
}

// of returns the state of pid; nil if too many are watched already.
func (t *pids) of(pid uint16) *pidState {
	if i := t.index[pid]; i > 0 {
		return t.list[i-1]
	}
	if len(t.list) == maxPIDs {
		return nil
	}
	s := &pidState{pid: pid, counter: noCounter}
	t.list = append(t.list, s)
	t.index[pid] = uint8(len(t.list))
	return s
}

// roll ends the window of every clock that is due.
func (t *pids) roll(at time.Time) {
	for _, s := range t.list {
		if s.clock != nil {
			s.clock.roll(at)
		}
	}
}

// window is how long rates and peaks are taken over.
const window = time.Second

// rates is the rate of everything that comes, by the time of arrival.
type rates struct {
	bytes  uint64
	began  time.Time
	before uint64 // bytes when the window began
	bps    float64
	whole  bool // bps is of a whole window
}

func (r *rates) roll(at time.Time) {
	if r.began.IsZero() {
		r.began, r.before = at, r.bytes // what came at the first moment came in no time
		return
	}
	d := at.Sub(r.began)
	if d < window && (r.whole || d <= 0) {
		return
	}
	r.bps = float64(r.bytes-r.before) * 8 / d.Seconds()
	if d >= window {
		r.began, r.before, r.whole = at, r.bytes, true
	}
}
