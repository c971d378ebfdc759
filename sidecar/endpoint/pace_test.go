package endpoint

import (
	"testing"
	"time"
)

// link plays a link of a certain rate, in messages a second, behind a pace.
type link struct {
	p    *pace
	now  time.Time
	rtt  time.Duration
	free time.Time   // when the link has sent all it was given
	acks []time.Time // when what is under way will be acknowledged
	late time.Duration
}

// run writes as much as the pace lets through, or want messages a second if
// that is less, for d.
func (l *link) run(rate, want float64, d time.Duration) {
	const tick = 10 * time.Millisecond
	l.late = 0
	owed := 0.0
	for range d / tick {
		l.now = l.now.Add(tick)
		if l.p.mustAsk {
			l.p.told(l.now, l.rtt)
		}
		for len(l.acks) > 0 && !l.acks[0].After(l.now) {
			l.acks = l.acks[1:]
		}
		for owed = min(owed+want*tick.Seconds(), 1000); owed >= 1 && l.p.may(l.now, len(l.acks)); owed-- {
			l.send(rate)
		}
	}
}

func (l *link) send(rate float64) {
	if l.free.Before(l.now) {
		l.free = l.now
	}
	l.free = l.free.Add(time.Duration(float64(time.Second) / rate))
	l.acks = append(l.acks, l.free.Add(l.rtt))
	l.late = max(l.late, l.free.Sub(l.now))
	l.p.add(l.now, 1)
}

func TestPaceFollowsTheLink(t *testing.T) {
	for _, rtt := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		l := &link{p: &pace{limit: firstOfFile, rtt: rtt}, rtt: rtt}
		l.run(1000, 1e5, 20*time.Second)
		if l.p.written < 5000 || l.late > 2*mostLate+rtt {
			t.Errorf("rtt %v: %d messages in 20 s at 1000 a second, at most %v late", rtt, l.p.written, l.late)
		}
		l.run(50, 1e5, time.Minute)
		l.run(50, 1e5, time.Minute)
		if l.late > 2*mostLate+rtt {
			t.Errorf("rtt %v: %v late on a slow link", rtt, l.late)
		}
	}
}

func TestPaceLeavesAStreamAlone(t *testing.T) {
	for _, rtt := range []time.Duration{time.Millisecond, 200 * time.Millisecond} {
		l := &link{p: &pace{limit: firstOfStream, rtt: rtt}, rtt: rtt}
		for range 10 { // a key frame, then small ones
			l.run(1e5, 3000, 100*time.Millisecond)
			l.run(1e5, 100, time.Second)
		}
		if l.p.limit < firstOfStream {
			t.Errorf("rtt %v: the limit fell to %d", rtt, l.p.limit)
		}
	}
}

func TestPaceAsksForTheRoundTripTimeOnlyWhenItMatters(t *testing.T) {
	const rtt = 50 * time.Millisecond
	l := &link{p: &pace{limit: firstOfStream}, now: time.Unix(1000, 0), rtt: rtt}
	if l.p.roomNow(l.now, 0) > 0 {
		t.Error("a message goes before the round trip time was asked for once")
	}
	l.p.told(l.now, rtt)
	l.run(1e5, 400, time.Minute)
	if l.p.roomNow(l.now, 0) == 0 {
		t.Error("asks although nothing is late")
	}
	l.p.add(l.now, 1)
	if l.p.roomNow(l.now.Add(rtt+2*mostLate), 1) == 0 {
		t.Error("asks before it is known how late")
	}
	if l.p.roomNow(l.now.Add(rtt+3*mostLate), 0) > 0 {
		t.Error("does not ask when something is late")
	}
}
