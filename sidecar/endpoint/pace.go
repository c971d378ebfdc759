package endpoint

import (
	"time"

	"github.com/weirline/weirline/srtcore"
)

// pace keeps what is under way down to what the link carries in a moment, by
// watching how long messages take to be acknowledged. It allows more while the
// source is held up and the link keeps up, and less once messages queue in the
// sender, which drops what is more than a second late.
type pace struct {
	limit   int // messages under way
	written int
	sent    []sentBatch // those not acknowledged, oldest first
	held    time.Time   // when the source was last held up
	looked  time.Time   // when acknowledgements were last looked at
	lowered time.Time   // until then the limit has not shown its effect

	rtt      time.Duration
	askedRTT time.Time
	mustAsk  bool // something looks late by a round trip time that may be old
}

// sentBatch is one batch under way.
type sentBatch struct {
	n, upTo int // its messages, and all up to its last
	at      time.Time
}

const (
	// firstOfFile and firstOfStream are under way before anything is known. A
	// stream may be live, and its first key frame must not wait for the link.
	firstOfFile   = 16
	firstOfStream = 128

	leastUnderWay = 16
	// together is how close batches are that are watched as one.
	together = time.Millisecond
	// mostLate is how much longer than a round trip a message may take.
	mostLate = 400 * time.Millisecond
	// rttInterval is how old the round trip time may be for a verdict.
	rttInterval = 100 * time.Millisecond
)

// wait waits until a batch of n messages may be sent.
func (p *pace) wait(c *srtcore.Conn, n int) {
	for {
		buffered, now := c.Buffered(), time.Now()
		if now.Sub(p.askedRTT) > rttInterval {
			p.told(now, time.Duration(c.Stats().MsRTT*float64(time.Millisecond)))
		}
		if p.may(now, buffered) {
			p.add(now, n)
			return
		}
		select {
		case <-c.Done():
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// told takes the round trip time as it is now.
func (p *pace) told(now time.Time, rtt time.Duration) {
	p.rtt, p.askedRTT, p.mustAsk = rtt, now, false
}

// roomNow is how many messages that cannot wait may be sent. Asking for the
// round trip time is waiting, too: it is done once, and when something looks
// late.
func (p *pace) roomNow(now time.Time, buffered int) int {
	if p.askedRTT.IsZero() || !p.may(now, buffered) || p.mustAsk {
		return 0
	}
	return p.limit - buffered + 1
}

// may learns from what was acknowledged and reports whether more may be sent.
func (p *pace) may(now time.Time, buffered int) bool {
	for len(p.sent) > 0 && p.sent[0].upTo <= p.written-buffered {
		p.learn(p.sent[0], now)
		p.sent = p.sent[1:]
	}
	p.looked = now
	if buffered > p.limit {
		p.held = now
		return false
	}
	return true
}

func (p *pace) add(now time.Time, n int) {
	p.written += n
	if k := len(p.sent) - 1; k >= 0 && now.Sub(p.sent[k].at) < together {
		p.sent[k].n += n
		p.sent[k].upTo = p.written
		return
	}
	p.sent = append(p.sent, sentBatch{n, p.written, now})
}

// learn adjusts the limit. The batch was acknowledged between the last look and
// now. Where the source was not held up meanwhile, nothing is known of more.
func (p *pace) learn(b sentBatch, now time.Time) {
	least, most := p.looked.Sub(b.at), now.Sub(b.at)
	switch {
	case least > p.rtt+mostLate && now.Sub(p.askedRTT) > rttInterval:
		p.mustAsk = true
	case least > p.rtt+mostLate:
		if now.After(p.lowered) {
			p.limit = max(leastUnderWay, int(float64(p.limit)*float64(p.rtt+mostLate/2)/float64(least)))
			p.lowered = now.Add(least)
		}
	case !p.held.Before(b.at) && most < p.rtt+mostLate/4:
		p.limit += (b.n + 1) / 2
	}
}
