package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// maxNAKs bounds the loss reports of one turn.
const maxNAKs = 4

// nakPeriod returns how long after a report the same loss is reported again:
// first when the retransmission must have come, then more often, because the
// sender ignores what is on its way (draft section 4.8.2). The variance counts
// for one round trip at most: after the first sample it is still a guess, and
// waiting it out would spend the latency on a single repetition.
func (c *Conn) nakPeriod(tries int32) time.Duration {
	if !c.rtt.known() {
		return guessedNAKPeriod
	}
	t := c.rtt.smoothed + min(4*c.rtt.variance, c.rtt.smoothed)
	if tries > 1 {
		t /= 2
	}
	return max(t, minNAKPeriod)
}

// advanceNAK marks the losses whose report is due, and finds the next deadline.
func (c *Conn) advanceNAK(now mono.Time) {
	l := &c.rcv.loss
	if len(l.runs) == 0 || now < l.next || c.state != stateConnected {
		return
	}
	l.next = mono.Never
	for i := range l.runs {
		info := &l.runs[i].info
		if info.due <= now {
			info.ttl, info.want, l.pending = 0, true, true
			info.due = now.Add(minNAKPeriod) // until pollNAK sets it
		}
		l.next = mono.Min(l.next, info.due)
	}
}

// pollNAK appends loss reports for all marked losses.
func (c *Conn) pollNAK(now mono.Time, b *dgram.Batch) {
	for range maxNAKs {
		if !c.rcv.loss.pending {
			return
		}
		content := c.nakContent(now)
		if len(content) == 0 {
			return
		}
		copy(c.addControl(now, b, wire.ControlHeader{Type: wire.CtrlNAK}, len(content)), content)
		c.stats.sentNAK++
	}
}

// nakContent collects marked losses, as many as one packet holds.
func (c *Conn) nakContent(now mono.Time) []byte {
	l := &c.rcv.loss
	room := c.mss - wireOverhead
	content := c.ep.scratch[:0]
	l.pending = false
	for i := range l.runs {
		r := &l.runs[i]
		if !r.info.want {
			continue
		}
		if len(content)+8 > room {
			l.pending = true
			break
		}
		content = wire.AppendNAKRange(content, wire.SeqRange{First: r.first, Last: r.last})
		c.reported(now, &r.info)
		c.noteAsked(now, r)
	}
	c.ep.scratch = content[:0]
	return content
}

func (c *Conn) reported(now mono.Time, info *lossInfo) {
	info.want = false
	info.tries++
	info.due = mono.Never
	if c.cfg.NAKReport {
		// On the grid, so that the losses due about now share a packet.
		info.due = onGrid(now.Add(c.nakPeriod(info.tries)))
		c.rcv.loss.next = mono.Min(c.rcv.loss.next, info.due)
	}
}
