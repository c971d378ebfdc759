package route

import (
	"fmt"
	"sync"
	"time"
)

// choice decides which of several sources is the one in use. All of them are
// read; the messages of the others are thrown away. A change happens between two
// messages, and only when there is one to go on with.
type choice struct {
	r *Route

	mu     sync.Mutex // held while messages are published, so that two sources never mix
	active int
	last   []time.Time // when a message came last
	steady []time.Time // since when messages have come without a pause
}

func (c *choice) init(r *Route) {
	c.r = r
	c.last = make([]time.Time, len(r.sources))
	c.steady = make([]time.Time, len(r.sources))
	c.last[0] = r.started
}

// take notes that source i has a message at now, and reports whether it is the
// one in use. It is called with the lock held.
func (c *choice) take(i int, now time.Time) bool {
	after := c.r.cfg.FailoverAfter
	if now.Sub(c.last[i]) > after || c.steady[i].IsZero() {
		c.steady[i] = now
	}
	c.last[i] = now
	if i == c.active {
		return true
	}
	switch silent := now.Sub(c.last[c.active]); {
	case silent > after && c.best(now) == i:
		c.change(i, silence(c.last[c.active], silent))
	case i < c.active && c.r.cfg.HoldOff >= 0 && now.Sub(c.steady[i]) >= c.r.cfg.HoldOff:
		c.change(i, fmt.Sprintf("the preferred one has been back for %v", now.Sub(c.steady[i]).Round(time.Millisecond)))
	default:
		return false
	}
	return true
}

func silence(last time.Time, silent time.Duration) string {
	if last.IsZero() {
		return "its connection has ended"
	}
	return fmt.Sprintf("nothing came from it for %v", silent.Round(time.Millisecond))
}

// best is the preferred one of those that have media.
func (c *choice) best(now time.Time) int {
	for i, t := range c.last {
		if i != c.active && now.Sub(t) <= c.r.cfg.FailoverAfter {
			return i
		}
	}
	return c.active
}

func (c *choice) change(to int, why string) {
	from := c.r.sources[c.active].face.URL()
	c.active = to
	here := c.r.sources[to].face.URL()
	c.r.log.Warn("source changed", "from", from, "to", here, "why", why)
	c.r.event(Event{Level: Warn, Kind: "failover", Text: fmt.Sprintf("source changed from %s to %s: %s", from, here, why)})
}

// lost says that a session of source i has ended: the next need not wait.
func (c *choice) lost(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last[i] = time.Time{}
	c.steady[i] = time.Time{}
}

// current is the index of the source in use.
func (c *choice) current() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}
