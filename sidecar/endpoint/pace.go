package endpoint

import (
	"time"

	"github.com/weirline/weirline/srtcore"
)

// pace keeps what is under way down to what the link carries in a moment, by
// watching how fast it is acknowledged while there is always something to send.
type pace struct {
	limit   int // messages under way
	written int
	mark    time.Time // since when the link is measured; zero: it is not
	acked   int       // at mark
}

const (
	// firstOfFile and firstOfStream are under way before anything is known. A
	// stream may be live, and its first key frame must not wait for the link.
	firstOfFile   = 16
	firstOfStream = 128

	leastUnderWay = 16
	paceInterval  = 100 * time.Millisecond
	// underWay is how long the queue in the sender may be, beyond what waits for
	// its acknowledgement; a sender drops what is more than a second late.
	underWay = 400 * time.Millisecond
)

// wait waits until something may be sent.
func (p *pace) wait(c *srtcore.Conn) {
	for {
		buffered, now := c.Buffered(), time.Now()
		if p.due(now, buffered) {
			p.measure(now, buffered, time.Duration(c.Stats().MsRTT*float64(time.Millisecond)))
		}
		if buffered <= p.limit {
			return
		}
		select {
		case <-c.Done():
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// due reports whether the link was kept busy long enough to be measured. Where
// little is under way, the source and not the link sets the rate.
func (p *pace) due(now time.Time, buffered int) bool {
	if buffered < p.limit/2 {
		p.mark = time.Time{}
		return false
	}
	if p.mark.IsZero() {
		p.mark, p.acked = now, p.written-buffered
	}
	return now.Sub(p.mark) >= paceInterval
}

// measure sets the limit from the rate of acknowledgement since mark.
func (p *pace) measure(now time.Time, buffered int, rtt time.Duration) {
	acked := p.written - buffered
	perSecond := float64(acked-p.acked) / now.Sub(p.mark).Seconds()
	p.limit = max(leastUnderWay, int(perSecond*(underWay+rtt).Seconds()))
	p.mark, p.acked = now, acked
}
