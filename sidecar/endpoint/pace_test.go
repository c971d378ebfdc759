package endpoint

import (
	"testing"
	"time"
)

// link plays a link of a certain rate, in messages a second, behind a pace.
type link struct {
	p        *pace
	now      time.Time
	rtt      time.Duration
	buffered float64
}

// run writes as much as the pace lets through, or want messages a second if
// that is less, for d.
func (l *link) run(rate, want float64, d time.Duration) {
	const tick = 10 * time.Millisecond
	owed := 0.0
	for range d / tick {
		l.now = l.now.Add(tick)
		// What is under way is acknowledged after a round trip at the earliest.
		l.buffered -= min(l.buffered*min(1, tick.Seconds()/l.rtt.Seconds()), rate*tick.Seconds())
		for owed += want * tick.Seconds(); owed >= 1; owed-- {
			if l.p.due(l.now, int(l.buffered)) {
				l.p.measure(l.now, int(l.buffered), l.rtt)
			}
			if int(l.buffered) > l.p.limit {
				break
			}
			l.buffered++
			l.p.written++
		}
		owed = min(owed, 1000)
	}
}

func TestPaceFollowsTheLink(t *testing.T) {
	for _, rtt := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		l := &link{p: &pace{limit: firstOfFile}, rtt: rtt}
		l.run(1000, 1e5, 20*time.Second)
		most := int(1000 * (underWay + rtt).Seconds() * 1.2)
		if l.p.written < 10000 || l.p.limit > most {
			t.Errorf("rtt %v: %d messages in 20 s at 1000 a second, %d under way (at most %d)", rtt, l.p.written, l.p.limit, most)
		}
		l.run(50, 1e5, time.Minute)
		if late := l.buffered / 50; late > (underWay+rtt).Seconds()*1.5 {
			t.Errorf("rtt %v: %.2f s queued on a slow link", rtt, late)
		}
	}
}

func TestPaceLeavesAStreamAlone(t *testing.T) {
	l := &link{p: &pace{limit: firstOfStream}, rtt: 50 * time.Millisecond}
	l.run(1e5, 100, 10*time.Second)
	if l.p.limit != firstOfStream {
		t.Errorf("a quiet stream lowered the limit to %d", l.p.limit)
	}
}
