package loop

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// deliver plays messages due at ascending instants to a loop that wakes as its
// pace says, and returns the wake-ups a millisecond and the lateness exceeded by
// one message in a hundred and by half of them.
func deliver(due []mono.Time) (wakes float64, p99, p50 time.Duration) {
	p := newPace(mono.Time(time.Millisecond))
	p.join(1)
	now, n := due[0]-mono.Time(time.Millisecond), 0
	var late [2000]int // us
	for i := 0; i < len(due); {
		p.woke(now, false)
		n++
		for i < len(due) && due[i] <= now {
			late[min(len(late)-1, int((now-due[i])/1000))]++
			i++
		}
		p.adapt()
		if i < len(due) {
			now, _ = p.next(now, due[i])
		}
	}
	seen := 0
	for us, k := range late {
		if seen += k; seen <= len(due)*99/100 {
			p99 = time.Duration(us+1) * time.Microsecond
		}
		if seen <= len(due)/2 {
			p50 = time.Duration(us+1) * time.Microsecond
		}
	}
	return float64(n) / (float64(due[len(due)-1]-due[0]) / 1e6), p99, p50
}

func ms(f float64) mono.Time { return mono.Time(f * 1e6) }

func TestPaceFollowsASource(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 20000
	bursts := make([]mono.Time, 0, n)
	jittery := make([]mono.Time, 0, n)
	for i := range n / 5 {
		at := ms(float64(i))
		off := ms(rng.Float64() * .4)
		for j := range 5 {
			bursts = append(bursts, at+mono.Time(j*10_000))
			jittery = append(jittery, at+off+mono.Time(j*10_000))
		}
	}
	wide := make([]mono.Time, 0, n)
	for i := range n / 5 {
		for j := range 5 {
			wide = append(wide, ms(float64(i))+mono.Time(j*70_000))
		}
	}
	for _, x := range []struct {
		name     string
		due      []mono.Time
		p99, p50 time.Duration
	}{
		{"even", bursts, 100 * time.Microsecond, 90 * time.Microsecond},
		{"jittery", jittery, 450 * time.Microsecond, 100 * time.Microsecond},
		{"wide", wide, 600 * time.Microsecond, 250 * time.Microsecond},
	} {
		wakes, p99, p50 := deliver(x.due)
		if wakes > 1.08 || p99 > x.p99 || p50 > x.p50 {
			t.Errorf("%s bursts: %.2f wake-ups a millisecond, %v late at p99, %v at p50", x.name, wakes, p99, p50)
		}
	}
}

func TestPaceBoundsWakeUps(t *testing.T) {
	due := make([]mono.Time, 100_000)
	for i := range due {
		due[i] = ms(float64(i) / 30)
	}
	wakes, p99, _ := deliver(due)
	if wakes > 1.13 || p99 > 950*time.Microsecond {
		t.Errorf("%.2f wake-ups a millisecond, %v late at p99", wakes, p99)
	}
}

// Without deadlines the loop wakes for its sockets and outboxes alone: seldom
// while bursts are short and every latency has room, each tick otherwise.
func TestPaceHolds(t *testing.T) {
	for _, x := range []struct {
		latency time.Duration
		perTick int
		want    int
	}{
		{120 * time.Millisecond, 5, 3},
		{20 * time.Millisecond, 5, 2},
		{5 * time.Millisecond, 5, 1},
		{120 * time.Millisecond, 30, 2},
		{120 * time.Millisecond, 190, 1},
	} {
		p := newPace(mono.Time(time.Millisecond))
		p.join(p.holdFor(x.latency, x.latency))
		p.join(p.holdFor(time.Second, time.Second))
		now := mono.Time(time.Second)
		for range 100 {
			_, collect := p.next(now, mono.Never)
			at := collect + p.tick/4
			p.sent = x.perTick * int((at-now)/p.tick)
			now = at
			p.adapt()
		}
		if p.hold != x.want {
			t.Errorf("latency %v, %d packets a tick: holds %d ticks, want %d", x.latency, x.perTick, p.hold, x.want)
		}
		p.hurry()
		if at, _ := p.next(now, mono.Never); at != now+2*p.tick {
			t.Errorf("in a hurry it wakes after %v", at-now)
		}
	}
}

// A thin stream's arrival, ACK and play time come close together now and then:
// a loop that has rested takes them as they come. A burst of deadlines still
// shares wake-ups.
func TestPaceRests(t *testing.T) {
	p := newPace(mono.Time(time.Millisecond))
	for i := range 20 {
		now := mono.Time(time.Second) + ms(float64(i)*5)
		for _, then := range []float64{0, .2, .4} {
			at := now + ms(then)
			if p.allowed() > at {
				t.Fatalf("round %d, %.1f ms after an arrival: held up until %.2f ms", i, then, float64(p.allowed()-now)/1e6)
			}
			p.woke(at, true)
		}
	}
	wakes, now := 0, mono.Time(0)
	for i := range 50 {
		if due := mono.Time(2*time.Second) + mono.Time(i)*20_000; due > now {
			now = max(due, p.allowed())
			p.woke(now, true)
			wakes++
		}
	}
	if wakes > 6 {
		t.Errorf("%d wake-ups for a burst of a millisecond", wakes)
	}
}

func TestPaceLeaves(t *testing.T) {
	p := newPace(mono.Time(time.Millisecond))
	h := p.holdFor(time.Millisecond, time.Second)
	p.join(h)
	p.join(p.holdFor(time.Second, time.Second))
	if p.limit() != 1 {
		t.Errorf("limit %d", p.limit())
	}
	p.leave(h)
	if p.limit() != maxHold {
		t.Errorf("limit %d after the short one has left", p.limit())
	}
	if long := newPace(mono.Time(10 * time.Millisecond)); long.holdFor(time.Second, time.Second) != 1 {
		t.Error("a tick of 10 ms is held for several")
	}
}
