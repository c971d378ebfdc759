package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// liveness knows when something was last heard and last said: it asks for
// KEEPALIVE (draft section 3.2.3) and finds a dead peer.
type liveness struct {
	lastHeard mono.Time
	lastSaid  mono.Time
	idle      time.Duration // the peer is dead after such a silence
}

// keepAliveAfter is the silence after which a KEEPALIVE is due.
const keepAliveAfter = time.Second

func (l *liveness) init(now mono.Time) { l.lastHeard, l.lastSaid = now, now }

func (l *liveness) heard(now mono.Time) { l.lastHeard = now }

func (l *liveness) said(now mono.Time) { l.lastSaid = now }

func (l *liveness) nextDeadline(c *Conn) mono.Time {
	if c.state == stateEnding {
		return mono.Never
	}
	return mono.Min(l.lastHeard.Add(l.idle), l.lastSaid.Add(keepAliveAfter))
}

// advanceLiveness breaks a connection whose peer is silent for the peer idle
// timeout, whatever the round-trip time was, and keeps a quiet one alive.
func (c *Conn) advanceLiveness(now mono.Time) {
	if c.state == stateEnding {
		return
	}
	if now.Sub(c.live.lastHeard) >= c.live.idle {
		c.ctl.shutdown = true
		c.peerGone(now, ErrPeerIdle)
		return
	}
	if now.Sub(c.live.lastSaid) >= keepAliveAfter {
		c.ctl.keepAlive = true
	}
}
