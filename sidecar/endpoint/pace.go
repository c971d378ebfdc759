package endpoint

import (
	"time"

	"github.com/weirline/weirline/srtcore"
)

// pace keeps what is under way down to what the link carries in a moment, by
// watching how fast it is acknowledged.
type pace struct {
	limit   int // messages under way
	written int
	mark    time.Time
	acked   int // at mark
}

const (
	leastUnderWay = 64
	paceInterval  = 100 * time.Millisecond
	// underWay is how long the queue in the sender may be; a sender drops what
	// is more than a second late.
	underWay = 400 * time.Millisecond
)

func (p *pace) wait(c *srtcore.Conn) {
	for {
		buffered := c.Buffered()
		p.measure(time.Now(), buffered)
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

// measure sets the limit from the rate of acknowledgement since the last time.
func (p *pace) measure(now time.Time, buffered int) {
	acked := p.written - buffered
	passed := now.Sub(p.mark)
	if passed < paceInterval {
		return
	}
	if !p.mark.IsZero() && passed < 10*paceInterval {
		perSecond := float64(acked-p.acked) / passed.Seconds()
		p.limit = max(leastUnderWay, int(perSecond*underWay.Seconds()))
	}
	p.mark, p.acked = now, acked
}
