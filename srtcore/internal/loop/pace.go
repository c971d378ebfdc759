package loop

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// pace says when an active loop wakes next. Waking costs more than the work of
// most wake-ups, so there is a budget: a little more than one wake-up a tick on
// average, spent where it buys most. Deadlines - messages whose play time has
// come above all - take one as soon as the budget allows, so that a burst is
// delivered as it falls due and jitter of the source is followed. What has no
// deadline, the outboxes and the sockets, waits for such a wake-up, at most for
// the hold.
type pace struct {
	tick   mono.Time
	spent  mono.Time // when the wake-ups so far are paid for
	gather mono.Time // how long after the first of several deadlines to wake
	hold   int       // ticks that outboxes and sockets may wait now
	holds  [maxHold + 1]int
	sent   int // data packets in this turn
}

const (
	// maxHold is the longest hold, in ticks; a connection allows a tenth of its
	// latency.
	maxHold     = 3
	holdLatency = 10
	// maxBurst is the number of data packets that should not wait for each other:
	// a receiver's socket with the system's default buffer holds some 90.
	maxBurst = 64
	// restCredit is what an idle loop can have saved, in ticks.
	restCredit = 2
	// leastGather covers the messages of one tick of a source, which fall due one
	// after another. Many sources, or connections whose time bases differ by what
	// their handshakes took, want more.
	leastGather = mono.Time(80 * time.Microsecond)
	gatherUp    = mono.Time(16 * time.Microsecond)
	gatherDown  = mono.Time(time.Microsecond)
)

func newPace(tick mono.Time) pace { return pace{tick: tick, hold: 1, gather: leastGather} }

// woke charges a wake-up. Those that nobody can refuse, for an arrival on an
// idle loop, put it no deeper into debt than a tick. An idle loop has rested and
// saved for a few more: the arrival of a packet, an ACK and a play time of a thin
// stream may come close together, and none waits for another.
func (p *pace) woke(now mono.Time, idle bool) {
	since := now
	if idle {
		since -= restCredit * p.tick
	}
	p.spent = min(max(p.spent, since)+p.tick*9/10, now+2*p.tick)
}

// allowed is the earliest instant for which the budget has a wake-up.
func (p *pace) allowed() mono.Time { return p.spent - p.tick*7/10 }

// next returns when to wake, given the first deadline, and from when a writer may
// wake the loop. Without such a writer the hold is a tick longer.
func (p *pace) next(now, due mono.Time) (wake, collect mono.Time) {
	held := now + mono.Time(p.hold)*p.tick
	collect = held - p.tick/4
	if due >= held+p.tick {
		return held + p.tick, collect
	}
	at := due + p.gather
	if allowed := p.allowed(); allowed > at {
		// Deadlines come in wider groups than this: waking for part of one leaves
		// the rest, and the next group, without a wake-up of their own.
		at = allowed
		p.gather = min(p.gather+gatherUp, p.tick*3/4)
	} else {
		p.gather = max(p.gather-gatherDown, leastGather)
	}
	return min(at, held+p.tick), collect
}

// join and leave count the established connections by what they allow.
func (p *pace) join(hold int)  { p.holds[hold]++ }
func (p *pace) leave(hold int) { p.holds[hold]-- }

// holdFor is the hold that a connection with these latencies allows.
func (p *pace) holdFor(rcv, peer time.Duration) int {
	most := max(1, min(maxHold, int(maxHold*mono.Time(DefaultTick)/p.tick)))
	return max(1, min(most, int(mono.Time(min(rcv, peer))/holdLatency/p.tick)))
}

// adapt ends a turn: the hold grows to what the connections allow and shrinks
// while the bursts are too long.
func (p *pace) adapt() {
	sent := p.sent
	p.sent = 0
	switch {
	case p.hold > p.limit():
		p.hold = p.limit()
	case sent > maxBurst:
		p.hold = max(1, p.hold-1)
	case sent*(p.hold+1) <= maxBurst*p.hold:
		p.hold = min(p.hold+1, p.limit())
	}
}

// limit is the least hold that a connection allows.
func (p *pace) limit() int {
	for h := 1; h <= maxHold; h++ {
		if p.holds[h] > 0 {
			return h
		}
	}
	return 1
}

// hurry makes the next wake-up come after one tick: something is to be retried.
func (p *pace) hurry() { p.hold = 1 }
