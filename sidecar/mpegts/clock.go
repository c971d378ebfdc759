package mpegts

import (
	"math"
	"time"
)

const (
	pcrHz    = 27_000_000
	pcrCycle = (1 << 33) * 300
	// mostGap is how far two PCRs of one clock may be apart; they ought to come
	// every 100 ms (ISO/IEC 13818-1, 2.7.2).
	mostGap = 10 * pcrHz
)

// clock watches the program clock references of one PID against the time when
// they came.
type clock struct {
	seen    bool
	last    uint64 // ticks
	at      time.Time
	packets uint64 // of the whole stream, up to it
	jumps   uint64 // references that do not follow and were not announced

	jitter float64 // seconds, smoothed as in RFC 3550, 6.4.1
	begun  bool    // at least one interval was seen

	began      time.Time // of the window
	count      int       // intervals in it
	ticks      uint64    // their sum
	sent       uint64    // packets in them
	longest    uint64    // of them
	worst      float64   // difference between arrival and clock in them, seconds
	lastWindow clockWindow
}

// clockWindow is what a whole window showed.
type clockWindow struct {
	interval float64 // seconds between references, on average
	longest  float64
	worst    float64
	bps      float64 // of the whole stream, by this clock
}

// jump is told of an announced discontinuity.
func (c *clock) jump() { c.seen = false }

// tick takes a reference that came at this time, after so many packets of the
// stream.
func (c *clock) tick(ticks uint64, at time.Time, packets uint64) {
	ticks %= pcrCycle
	d := (ticks + pcrCycle - c.last) % pcrCycle
	switch {
	case !c.seen:
	case d == 0:
		return // the same packet again
	case d > mostGap:
		c.jumps++
	default:
		c.interval(d, at.Sub(c.at), packets-c.packets)
	}
	if c.began.IsZero() {
		c.began = at
	}
	c.seen, c.last, c.at, c.packets = true, ticks, at, packets
}

func (c *clock) interval(d uint64, arrival time.Duration, packets uint64) {
	c.count++
	c.ticks += d
	c.sent += packets
	c.longest = max(c.longest, d)
	off := math.Abs(arrival.Seconds() - float64(d)/pcrHz)
	c.worst = max(c.worst, off)
	c.jitter += (off - c.jitter) / 16
	c.begun = true
}

// roll closes a window that is over.
func (c *clock) roll(at time.Time) {
	if at.Sub(c.began) < window {
		return
	}
	c.lastWindow = c.current()
	c.began, c.count, c.ticks, c.sent, c.longest, c.worst = at, 0, 0, 0, 0, 0
}

func (c *clock) current() clockWindow {
	if c.count == 0 {
		return clockWindow{}
	}
	sum := float64(c.ticks) / pcrHz
	return clockWindow{
		interval: sum / float64(c.count),
		longest:  float64(c.longest) / pcrHz,
		worst:    c.worst,
		bps:      float64(c.sent*PacketSize*8) / sum,
	}
}

// shown is the last whole window, or the first one as far as it is.
func (c *clock) shown() clockWindow {
	if c.lastWindow.interval > 0 {
		return c.lastWindow
	}
	return c.current()
}
