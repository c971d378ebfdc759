package endpoint

import (
	"testing"
	"time"
)

func TestPaceFollowsTheLink(t *testing.T) {
	p, now := &pace{limit: leastUnderWay}, time.Unix(0, 0)
	step := func(written, buffered int) int {
		p.written += written
		p.measure(now, buffered)
		now = now.Add(paceInterval)
		return p.limit
	}
	step(0, 0)
	if l := step(1000, 0); l != 4000 { // 10000 a second
		t.Errorf("fast link: %d, want 4000", l)
	}
	if l := step(100, 90); l != leastUnderWay { // 100 a second
		t.Errorf("slow link: %d, want %d", l, leastUnderWay)
	}
	now = now.Add(time.Hour)
	if l := step(5000, 0); l != leastUnderWay {
		t.Errorf("after a pause nothing is known: %d", l)
	}
}
