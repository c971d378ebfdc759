package loop

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// tickWith lets ticks deliver messages that fall due at the given instants and
// returns the greatest lateness of the last hundred.
func tickWith(p *phase, due func(i int) mono.Time, n int) (worst mono.Time) {
	tick := mono.Time(time.Millisecond)
	now, next := mono.Time(time.Second), 0
	for next < n {
		now = p.next(now+1, tick)
		for next < n && due(next) <= now {
			late := now - due(next)
			p.note(late)
			if next >= n-100 {
				worst = max(worst, late)
			}
			next++
		}
		p.advance(tick)
	}
	return worst
}

// A source on a grid of its own is delivered close behind it, wherever in the
// millisecond that is.
func TestPhaseFollowsTheSource(t *testing.T) {
	for _, at := range []time.Duration{0, 130, 400, 770, 990} {
		p := newPhase()
		base := mono.Time(time.Second + at*time.Microsecond)
		worst := tickWith(&p, func(i int) mono.Time { return base + mono.Time(i)*mono.Time(time.Millisecond) }, 1000)
		if worst > 2*phaseMargin {
			t.Errorf("due %v into the millisecond: %v late", at*time.Microsecond, time.Duration(worst))
		}
	}
}

// Sources without a common grid leave the phase alone: nothing could be gained.
func TestPhaseStaysWithoutAGrid(t *testing.T) {
	p := newPhase()
	rng := rand.New(rand.NewPCG(1, 2))
	at := mono.Time(time.Second)
	worst := tickWith(&p, func(i int) mono.Time {
		if i == 0 {
			at = mono.Time(time.Second)
		}
		return at + mono.Time(i)*mono.Time(20*time.Microsecond) + mono.Time(rng.IntN(1000))
	}, 100_000)
	if p.offset != 0 || worst > mono.Time(time.Millisecond+2*time.Microsecond) {
		t.Errorf("offset %v, %v late", time.Duration(p.offset), time.Duration(worst))
	}
}

// grid is a phase that nobody has moved.
var grid = phase{}
