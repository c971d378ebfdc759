package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// closing is the graceful end, of either side. The peer's receiver may throw
// away what is not yet due when SHUTDOWN arrives, so this side holds the
// connection until all is acknowledged and, after that, for the peer's latency.
// A SHUTDOWN received may have overtaken the peer's last packets.
type closing struct {
	giveUp mono.Time // this side closes then, acknowledged or not

	overtaking bool      // packets that the peer's SHUTDOWN overtook may come
	comeBy     mono.Time // until then
}

// holdMargin covers the lateness of the peer: libsrt throws away what its
// application has not read when SHUTDOWN comes, due or not.
const holdMargin = 100 * time.Millisecond

// overtakeMargin is how far the network may bring SHUTDOWN before its time.
const overtakeMargin = 20 * time.Millisecond

// Close ends the connection gracefully: what was sent is delivered, within
// bounds (latency, round-trip time and Linger), then SHUTDOWN.
func (c *Conn) Close(now mono.Time) {
	c.check.mutate(now)
	switch c.state {
	case stateDead, stateClosing:
	case stateConnected:
		c.state = stateClosing
		c.closing.giveUp = now.Add(c.peerDelay + min(c.rtt.timeout(), time.Second) + c.cfg.Linger)
		c.rcv.release(c.ep.cache)
		c.advanceClosing(now)
	default:
		c.die(nil)
	}
}

// Abort ends the connection at once; SHUTDOWN is sent, nothing is drained.
func (c *Conn) Abort(now mono.Time) {
	c.check.mutate(now)
	if c.state == stateConnected || c.state == stateClosing {
		c.ctl.shutdown = true
	}
	c.die(nil)
}

// nextDeadline is the end of the hold, or of all patience.
func (cl *closing) nextDeadline(c *Conn) mono.Time {
	switch {
	case c.state == stateConnected:
		return mono.Never
	case c.state == stateEnding && cl.overtaking:
		return cl.comeBy
	case c.state != stateClosing:
		return mono.Never
	case c.snd.buf.n == 0:
		return mono.Min(c.holdUntil(), cl.giveUp)
	}
	return cl.giveUp
}

// holdUntil is when the last acknowledged message is surely delivered.
func (c *Conn) holdUntil() mono.Time {
	if c.snd.lastAcked == 0 {
		return 0
	}
	return c.snd.lastAcked.Add(c.peerDelay + holdMargin)
}

func (c *Conn) advanceClosing(now mono.Time) {
	if c.state == stateConnected {
		return
	}
	if now >= c.closing.comeBy {
		c.closing.overtaking = false
	}
	if c.state != stateClosing {
		return
	}
	drained := c.snd.buf.n == 0 && now >= c.holdUntil()
	if drained || now >= c.closing.giveUp {
		c.ctl.shutdown = true
		c.die(nil)
	}
}

// handleShutdown: the peer says that no more will come. What was received is
// still delivered, each message at its time.
func (c *Conn) handleShutdown(now mono.Time) {
	if c.state == stateClosing {
		c.die(nil)
		return
	}
	c.peerGone(now, ErrPeerShutdown)
}

// peerGone turns to delivering what is left; err is what the reader sees last.
func (c *Conn) peerGone(now mono.Time, err error) {
	if c.state == stateClosing {
		c.die(err)
		return
	}
	if c.state != stateConnected {
		return
	}
	c.noteGone(now, err == ErrPeerIdle)
	c.state = stateEnding
	c.endErr = err
	c.snd.release(c.ep.cache)
	c.maybeIdle(now)
	if err == ErrPeerShutdown {
		c.closing.overtaking, c.closing.comeBy = true, now.Add(overtakeMargin)
		c.events = append(c.events, Event{Kind: EventPeerShutdown})
	}
}

// maybeEnd says EventClosed once everything received has been taken.
func (c *Conn) maybeEnd() {
	if c.state == stateEnding && c.rcv.buf.count == 0 && !c.closing.overtaking {
		c.die(c.endErr)
	}
}
