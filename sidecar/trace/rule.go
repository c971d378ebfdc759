package trace

import (
	"math"
	"time"
)

// Link is what the latency depends on.
type Link struct {
	RTT    time.Duration // what few round trips exceed: the 95th percentile
	Jitter time.Duration // how much longer than the shortest that is
	Loss   float64       // share of packets lost at the first sending
	// Again is the share of retransmissions lost; 0: as Loss. Losses that come
	// together make it larger.
	Again    float64
	Burst    time.Duration // the longest silence on a link that else is not silent
	Residual float64       // share that may be lost for good; 0: one in a million
	Least    time.Duration // not less than this; 0: LeastLatency
}

const (
	// LeastLatency is libsrt's default: what is below it leaves no time to a busy
	// receiver.
	LeastLatency = 120 * time.Millisecond
	// aMillionth is the share of packets that may be lost for good.
	aMillionth = 1e-6
	// MaxRepeats bounds what the latency is made for: beyond it a link is broken,
	// not lossy.
	MaxRepeats = 10
)

// Repeats returns how many times a packet must be sent again at most so that no
// more than the residual share is lost for good: the least n with
// loss * again^n <= residual, one at least.
func Repeats(l Link) int {
	residual, again := l.Residual, l.Again
	if residual == 0 {
		residual = aMillionth
	}
	if again == 0 {
		again = l.Loss
	}
	if l.Loss <= residual {
		return 1
	}
	if again >= 1 {
		return MaxRepeats
	}
	n := math.Log(residual/l.Loss) / math.Log(again)
	return min(max(int(math.Ceil(n-1e-9)), 1), MaxRepeats)
}

// Latency returns the latency for a link: (n + 1) round trips, n being the
// repeats - each costs a round trip, one more passes until the loss shows, the
// request is made and the timers of both ends have struck - and a margin for
// jitter and the longest silence. It is rounded up to 10 ms.
func Latency(l Link) time.Duration {
	least := l.Least
	if least == 0 {
		least = LeastLatency
	}
	d := time.Duration(Repeats(l)+1)*l.RTT + l.Jitter + l.Burst
	const step = 10 * time.Millisecond
	return (max(d, least, LeastLatency) + step - 1) / step * step
}
