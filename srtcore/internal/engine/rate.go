package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
)

// rcvRate measures what arrives, for the ACK: packets and bytes per second over
// short windows, and the link's capacity from packet pairs.
type rcvRate struct {
	start  mono.Time
	nPkts  int
	nBytes int
	lastAt mono.Time
	probe  seq.Number // the first of a pair
	probed bool

	packets int // packets/s
	bytes   int // bytes/s, with header
	pairs   int // packets/s by packet pairs; 0 unknown
}

const (
	rateWindow      = 100 * time.Millisecond
	initialCapacity = 1000 // packets/s, as libsrt starts
	// probeEvery: the packet after each number divisible by 16 is sent
	// back-to-back with it (draft section 4.10).
	probeEvery = 16
)

func (r *rcvRate) add(now mono.Time, payload int, s seq.Number) {
	if r.start == 0 {
		r.start = now
	}
	r.nPkts++
	r.nBytes += payload + wireOverhead
	switch {
	case s%probeEvery == 0:
		r.probe, r.probed = s, true
	case r.probed && s == r.probe.Next():
		r.pair(now.Sub(r.lastAt))
	default:
		r.probed = false
	}
	r.lastAt = now
}

// pair takes the gap of a packet pair. Packets read in one go have none and say
// nothing.
func (r *rcvRate) pair(gap time.Duration) {
	r.probed = false
	if gap <= 0 {
		return
	}
	rate := int(time.Second / max(gap, time.Microsecond))
	if r.pairs == 0 {
		r.pairs = rate
	} else {
		r.pairs = (7*r.pairs + rate) / 8
	}
}

// advance closes the window if it is long enough.
func (r *rcvRate) advance(now mono.Time) {
	d := now.Sub(r.start)
	if d < rateWindow {
		return
	}
	r.packets = int(int64(r.nPkts) * int64(time.Second) / int64(d))
	r.bytes = int(int64(r.nBytes) * int64(time.Second) / int64(d))
	r.start, r.nPkts, r.nBytes = now, 0, 0
}

// capacity returns the link capacity in packets/s: never less than what is
// known to come through.
func (r *rcvRate) capacity() int {
	return max(r.pairs, r.packets, initialCapacity)
}
