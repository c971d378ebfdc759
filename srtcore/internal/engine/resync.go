package engine

import (
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
)

// resync notices that the sender has left the receive buffer behind. In a long
// outage the sender drops what is too late; when that is more than the buffer
// spans, all that comes afterwards lies beyond its end, and neither a loss
// report nor a drop request can name the gap. libsrt breaks the connection
// here; this side goes on behind the gap.
type resync struct {
	last seq.Number // of the latest packet beyond the end
	run  int        // such packets, near one another, since one was accepted
}

const (
	// resyncRun packets in a run are believed; fewer may be forged or astray.
	resyncRun = 16
	// resyncReach is how far apart the packets of a run may be.
	resyncReach = 64
)

// beyond takes note of a packet beyond the end of the buffer and reports
// whether the sender has left the buffer behind.
func (r *resync) beyond(s seq.Number) bool {
	if d := s.Sub(r.last); r.run > 0 && -resyncReach < d && d < resyncReach {
		r.run++
	} else {
		r.run = 1
	}
	r.last = s
	return r.run >= resyncRun
}

// catchUp decides about a packet that lies off steps behind first, beyond the
// end of the buffer. It gives up everything before it and reports true if the
// buffer is empty and the sender will not come back.
func (c *Conn) catchUp(now mono.Time, s seq.Number, off int) bool {
	if c.rcv.buf.count > 0 || !c.maySkip() || off > maxFlight || !c.rcv.resync.beyond(s) {
		return false
	}
	bytes := off * c.stats.avgPayload()
	c.stats.rcvLoss.addN(off, bytes)
	c.stats.rcvDrop.addN(off, bytes)
	c.noteRange(now, RecRcvResync, c.rcv.buf.first, off)
	c.rcv.buf.first = s
	c.noteSkipped()
	return true
}
