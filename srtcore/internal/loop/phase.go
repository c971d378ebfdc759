package loop

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// phase is where in a millisecond a loop's ticks fall. Sources send on a grid of
// their own, so their messages fall due on one too; ticks that fall just behind
// it deliver at the right time, ticks at random half a tick late. The phase is
// moved by what no message needed: the least lateness of a whole window.
type phase struct {
	offset mono.Time // of the grid, 0 <= offset < tick
	least  mono.Time // least lateness in this window
	turns  int       // with deliveries in this window
	turn   mono.Time // least lateness in this turn; Never: nothing delivered
}

const (
	// phaseWindow is how many turns with deliveries make one decision.
	phaseWindow = 32
	// phaseMargin is kept between the due messages and the tick: the source's
	// own unevenness.
	phaseMargin = mono.Time(100 * time.Microsecond)
)

func newPhase() phase { return phase{least: mono.Never, turn: mono.Never} }

// next returns the first instant of the grid that is not before t.
func (p *phase) next(t, tick mono.Time) mono.Time {
	if t == mono.Never {
		return t
	}
	return (t-p.offset+tick-1)/tick*tick + p.offset
}

// note takes the lateness of the last message that a connection delivered.
func (p *phase) note(late mono.Time) {
	if late >= 0 {
		p.turn = min(p.turn, late)
	}
}

// advance ends a turn.
func (p *phase) advance(tick mono.Time) {
	if p.turn == mono.Never {
		return
	}
	p.least = min(p.least, p.turn)
	p.turn = mono.Never
	if p.turns++; p.turns < phaseWindow {
		return
	}
	if p.least > 2*phaseMargin && p.least < tick {
		p.offset = (p.offset - p.least + phaseMargin + tick) % tick
	}
	p.least, p.turns = mono.Never, 0
}
