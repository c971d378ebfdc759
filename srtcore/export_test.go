package srtcore

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/loop"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// TraceOf is the Trace of a simulated connection, whose instants count from
// 1970.
func TraceOf(c *engine.Conn, now mono.Time) Trace {
	r := loop.Recording{Taken: now, SocketID: c.SocketID(), PeerID: c.PeerSocketID(), TLPktDrop: c.DropsTooLate()}
	rec := c.Recorded(now, nil)
	r.Records, r.Lost = rec.Records(), rec.Lost
	s := c.Stats(now)
	r.RTT, r.RTTVar, r.Drift = s.RTT, s.RTTVar, s.Drift
	t := newTrace(r, func(m mono.Time) time.Time { return time.Unix(0, int64(m)).UTC() })
	t.Local, t.Remote = c.Peer(), c.Peer()
	t.RcvLatency, t.PeerLatency = c.RcvLatency(), c.PeerLatency()
	return t
}
