package loop

import (
	"errors"
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

// writeBatch is the number of collected datagrams at which a round writes
// before it goes on.
const writeBatch = 512

// writer collects the datagrams of one socket and writes them. What the system
// does not take is kept, and its connections are asked for nothing more until
// it has gone: the memory is bounded by one batch.
type writer struct {
	send    func([]dgram.Out) (int, error) // udp.Socket.WriteBatch
	batch   dgram.Batch
	order   []dgram.Out
	pending []dgram.Out
	stalled []*Conn // wanted to transmit meanwhile
}

func (w *writer) blocked() bool { return len(w.pending) > 0 }

// flush writes the batch, control packets first.
func (w *writer) flush(s *socket) {
	if w.batch.Len() == 0 {
		return
	}
	if n := len(w.batch.Data); n > 0 {
		s.loop.pace.sent += n
		s.loop.traffic()
	}
	out := w.arrange(&s.loop.grouping)
	if w.blocked() {
		w.keep(out)
	} else if n := w.write(out); n < len(out) {
		w.keep(out[n:])
		s.loop.retrySoon()
	}
	clear(out)
	w.order = out[:0]
	w.batch.Reset()
}

// arrange lays control and data out in one sequence, those to one peer together.
func (w *writer) arrange(g *grouping) []dgram.Out {
	out := append(w.order[:0], w.batch.Control...)
	g.group(out)
	out = append(out, w.batch.Data...)
	g.group(out[len(w.batch.Control):])
	return out
}

// write returns the number of datagrams that are done with: sent, or hopeless.
func (w *writer) write(out []dgram.Out) int {
	for done := 0; ; {
		n, err := w.send(out[done:])
		done += n
		switch {
		case done >= len(out):
			return len(out)
		case errors.Is(err, udp.ErrAgain):
			return done
		case n == 0 && err != nil:
			done++ // lost, as datagrams may be
		case n == 0:
			return len(out)
		}
	}
}

// keep copies what was not sent; the batch's bytes do not outlive it.
func (w *writer) keep(out []dgram.Out) {
	for _, o := range out {
		o.Data = append([]byte(nil), o.Data...)
		w.pending = append(w.pending, o)
	}
}

// retry sends what was kept, and lets the stalled connections go on after it.
func (w *writer) retry(s *socket) {
	if !w.blocked() {
		return
	}
	s.loop.retrySoon()
	n := w.write(w.pending)
	w.pending = append(w.pending[:0], w.pending[n:]...)
	if w.blocked() {
		return
	}
	w.pending = nil
	for _, c := range w.stalled {
		c.stalled = false
		c.touch()
	}
	w.stalled = nil
}

// grouping brings datagrams to one peer together without changing their order
// among themselves, so that they can leave as one train. It is needed only when
// several connections lead to the same peer address and others to another.
type grouping struct {
	last map[flow]int // the flow's last run
	runs []run
	tmp  []dgram.Out
}

// flow is what the datagrams of a train have in common.
type flow struct {
	to   netip.AddrPort
	from netip.Addr
}

// run is a stretch of one flow; next is the flow's following run, or zero.
type run struct{ start, end, next int }

func (g *grouping) group(out []dgram.Out) {
	if !g.split(out) {
		return
	}
	g.tmp = append(g.tmp[:0], out...)
	w := 0
	for i := range g.runs {
		for j := i; g.runs[j].end > 0; j = g.runs[j].next {
			r := &g.runs[j]
			w += copy(out[w:], g.tmp[r.start:r.end])
			r.end = 0
			if r.next == 0 {
				break
			}
		}
	}
	clear(g.tmp)
}

// split finds the runs and reports whether a flow has more than one.
func (g *grouping) split(out []dgram.Out) (scattered bool) {
	g.runs = g.runs[:0]
	for i := range out {
		if n := len(g.runs); n > 0 && out[i].To == out[i-1].To && out[i].From == out[i-1].From {
			g.runs[n-1].end = i + 1
			continue
		}
		g.runs = append(g.runs, run{start: i, end: i + 1})
	}
	if len(g.runs) < 3 {
		return false
	}
	if g.last == nil {
		g.last = make(map[flow]int)
	}
	clear(g.last)
	for i := range g.runs {
		o := &out[g.runs[i].start]
		f := flow{o.To, o.From}
		if before, ok := g.last[f]; ok {
			g.runs[before].next = i
			scattered = true
		}
		g.last[f] = i
	}
	return scattered
}
