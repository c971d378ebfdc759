package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// tsbpd turns the peer's time stamps into play times (draft section 4.5).
type tsbpd struct {
	on    bool
	base  mono.Time // local arrival of HSREQ or HSRSP less its time stamp
	delay time.Duration
	off   time.Duration // drift, see drift.go

	samples int
	since   mono.Time // of the first sample
	sum     time.Duration
}

// start sets the time base from the handshake message that carried HSREQ or
// HSRSP.
func (t *tsbpd) start(arrival mono.Time, ts wire.Timestamp, delay time.Duration) {
	t.on = true
	t.base = arrival.Add(-time.Duration(ts) * time.Microsecond)
	t.delay = delay
}

// localTime returns the local instant of a time stamp. The 32-bit stamp wraps
// every 71 min 35 s; the right turn is the one nearest to what the peer's clock
// showed at a given instant, so no state has to follow the wraps.
func (t *tsbpd) localTime(near mono.Time, ts wire.Timestamp) mono.Time {
	peerThen := near.Sub(t.base) / time.Microsecond
	age := int32(uint32(ts) - uint32(peerThen))
	return t.base.Add((peerThen + time.Duration(age)) * time.Microsecond)
}

// playTime returns when a packet with this time stamp is to be delivered.
func (t *tsbpd) playTime(near mono.Time, ts wire.Timestamp) mono.Time {
	return t.localTime(near, ts).Add(t.delay + t.off)
}

const (
	// maxAhead is how far ahead of the peer's clock a message may be stamped.
	maxAhead = 10 * time.Second
	// maxBehind is how far behind it: well below half a turn of the stamp.
	maxBehind = 15 * time.Minute
)

// tame gives a packet that claims to be made in the far future or past the stamp
// of now. Its play time would hold up everything behind it, and after the peer's
// end the connection, for up to half a turn of the stamp: 35 minutes.
func (t *tsbpd) tame(now mono.Time, header []byte) {
	if !t.on {
		return
	}
	if d := t.localTime(now, wire.Stamp(header)).Sub(now); -maxBehind <= d && d <= maxAhead {
		return
	}
	wire.SetStamp(header, wire.Timestamp(uint32(now.Sub(t.base)/time.Microsecond)))
}

func (c *Conn) tsbpdOn() bool { return c.rcv.tsbpd.on }

// playTime returns when the packet off steps behind the first is to be
// delivered.
func (c *Conn) playTime(off int) mono.Time {
	return c.rcv.tsbpd.playTime(c.rcv.near, c.rcv.buf.slot(off).stamp)
}

// nextPlay returns when the first packet, or the first behind a hole that may
// be skipped, is due; 0 means at once.
func (c *Conn) nextPlay() mono.Time {
	off := 0
	if c.rcv.buf.at(0) == nil {
		if !c.maySkip() {
			return mono.Never
		}
		off = c.holeLen()
	}
	if c.rcv.buf.at(off) == tombstone || !c.tsbpdOn() {
		return 0
	}
	if off == 0 {
		return c.handTime()
	}
	return c.playTime(off)
}

// handTime returns when the first packet is to be handed over: at its play
// time, or with others at the point of the grid before it.
func (c *Conn) handTime() mono.Time {
	t, grid := c.playTime(0), mono.Time(c.cfg.PlayGrid)
	if grid == 0 {
		return t
	}
	into := t % grid
	if into < 0 {
		into += grid
	}
	return t - into
}
