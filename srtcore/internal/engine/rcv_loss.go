package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
)

// rcvLoss lists exactly the holes of the receive buffer, and when each was
// reported.
type rcvLoss struct {
	next    mono.Time // not later than the first report that falls due
	pending bool      // some run is to be reported now
	held    bool      // some run waits for its reorder tolerance
	lossList[lossInfo]
}

// lossInfo is what is known of one run of lost numbers.
type lossInfo struct {
	due   mono.Time // of the next report
	ttl   int32     // further packets to wait for before the first report
	tries int32     // reports sent
	want  bool      // report in the next NAK
}

// minNAKPeriod is the least time between reports of the same loss.
const minNAKPeriod = 20 * time.Millisecond

// guessedNAKPeriod is used while no round trip was measured. libsrt waits
// 300 ms here, and loses for good what its first NAK did not bring back.
const guessedNAKPeriod = 100 * time.Millisecond

// gap lists first..last as lost. The NAK is due at once, or after the reorder
// tolerance (draft section 4.8.2; SRTO_LOSSMAXTTL).
func (c *Conn) gap(now mono.Time, first, last seq.Number) {
	info := lossInfo{ttl: int32(c.rcv.order.tolerance)}
	l := &c.rcv.loss
	if info.ttl > 0 {
		info.due = now.Add(c.holdBack())
		l.held = true
	} else {
		info.want, l.pending = true, true
		info.due = now.Add(minNAKPeriod) // until pollNAK sets it
	}
	if len(l.runs) == 0 || info.due < l.next {
		l.next = info.due
	}
	n := l.add(first, last, info, nil)
	c.stats.rcvLoss.addN(n, n*c.stats.avgPayload())
}

// holdBack bounds the time a loss is held back: the packets that the tolerance
// waits for may never come.
func (c *Conn) holdBack() time.Duration { return max(c.rcvDelay/3, minNAKPeriod) }

// countDown: one more packet came behind the held-back gaps.
func (l *rcvLoss) countDown() {
	if !l.held {
		return
	}
	l.held = false
	for i := range l.runs {
		info := &l.runs[i].info
		if info.ttl == 0 {
			continue
		}
		if info.ttl--; info.ttl == 0 {
			info.want, l.pending = true, true
		} else {
			l.held = true
		}
	}
}

// release ends all holding back: a keepalive says that the peer has nothing
// further to send.
func (l *rcvLoss) release() {
	if !l.held {
		return
	}
	l.held = false
	for i := range l.runs {
		if info := &l.runs[i].info; info.ttl > 0 {
			info.ttl, info.want, l.pending = 0, true, true
		}
	}
}

func (l *rcvLoss) nextDeadline(c *Conn) mono.Time {
	if len(l.runs) == 0 || c.state != stateConnected {
		return mono.Never
	}
	return l.next
}

func (l *rcvLoss) reset() {
	l.lossList.reset()
	l.pending, l.held = false, false
}
