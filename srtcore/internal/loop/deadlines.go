package loop

import "github.com/weirline/weirline/srtcore/internal/mono"

// deadline is one entry: a connection's or a socket's next instant.
type deadline struct {
	id   int32 // place in deadlines.entries plus one; zero: in no heap yet
	conn *Conn
	sock *socket
}

// deadlines is a four-way heap of instants, the earliest first. Entries that are
// due never are not in it. The owners are hundreds of objects that nobody has
// looked at for milliseconds, so sifting must not touch them: instants stand in
// the heap, and where each entry is stands in a dense array beside it.
type deadlines struct {
	heap    []instant // from root on; the places before it are not used
	where   []int32   // by entry: its place in the heap; 0: not in it
	entries []*deadline
	free    []int32 // entries not in use

	// Scratch space of expired.
	passed []int
	over   []*deadline
}

// instant is one place of the heap.
type instant struct {
	at    mono.Time
	entry int32
}

// root is where the heap begins, so that the four children of a place lie in one
// cache line: of place i they are 4(i-2) and the next three.
const (
	ways = 4
	root = ways - 1
)

// first returns the earliest instant, or Never.
func (d *deadlines) first() mono.Time {
	if len(d.heap) <= root {
		return mono.Never
	}
	return d.heap[root].at
}

// expired returns the entries that are due at now, until the next call. They stay
// where they are, in the top of the heap, since each of them is about to be set
// anew: that moves it once, where taking it out first would move two.
func (d *deadlines) expired(now mono.Time) []*deadline {
	d.passed, d.over = d.passed[:0], d.over[:0]
	if d.first() > now {
		return nil
	}
	d.passed = append(d.passed, root)
	for k := 0; k < len(d.passed); k++ {
		i := d.passed[k]
		d.over = append(d.over, d.entries[d.heap[i].entry])
		for c := ways * (i - 2); c < min(ways*(i-1), len(d.heap)); c++ {
			if d.heap[c].at <= now {
				d.passed = append(d.passed, c)
			}
		}
	}
	return d.over
}

// set moves e to at; Never takes it out.
func (d *deadlines) set(e *deadline, at mono.Time) {
	if e.id == 0 {
		if at == mono.Never {
			return
		}
		d.enter(e)
	}
	n := e.id - 1
	i := int(d.where[n])
	switch {
	case i == 0 && at == mono.Never, i != 0 && d.heap[i].at == at:
	case at == mono.Never:
		d.takeOut(i)
	case i == 0:
		d.heap = append(d.heap, instant{})
		d.up(len(d.heap)-1, instant{at, n})
	case at < d.heap[i].at:
		d.up(i, instant{at, n})
	default:
		d.down(i, instant{at, n})
	}
}

// enter gives e its place among the entries.
func (d *deadlines) enter(e *deadline) {
	if len(d.heap) == 0 {
		d.heap = make([]instant, root, 64)
	}
	if k := len(d.free) - 1; k >= 0 {
		n := d.free[k]
		d.free = d.free[:k]
		d.entries[n], e.id = e, n+1
		return
	}
	d.entries, d.where = append(d.entries, e), append(d.where, 0)
	e.id = int32(len(d.entries))
}

// remove forgets e.
func (d *deadlines) remove(e *deadline) {
	if e.id == 0 {
		return
	}
	n := e.id - 1
	if i := d.where[n]; i != 0 {
		d.takeOut(int(i))
	}
	d.entries[n], e.id = nil, 0
	d.free = append(d.free, n)
}

// takeOut closes place i.
func (d *deadlines) takeOut(i int) {
	out := d.heap[i]
	last := d.heap[len(d.heap)-1]
	d.heap = d.heap[:len(d.heap)-1]
	d.where[out.entry] = 0
	switch {
	case last.entry == out.entry:
	case last.at < out.at:
		d.up(i, last)
	default:
		d.down(i, last)
	}
}

// up places x at i or above.
func (d *deadlines) up(i int, x instant) {
	for i > root {
		parent := i/ways + 2
		if d.heap[parent].at <= x.at {
			break
		}
		d.place(i, d.heap[parent])
		i = parent
	}
	d.place(i, x)
}

// down places x at i or below.
func (d *deadlines) down(i int, x instant) {
	for {
		child := d.leastChild(i)
		if child < 0 || d.heap[child].at >= x.at {
			break
		}
		d.place(i, d.heap[child])
		i = child
	}
	d.place(i, x)
}

func (d *deadlines) leastChild(i int) int {
	first := ways * (i - 2)
	if first >= len(d.heap) {
		return -1
	}
	if first+ways <= len(d.heap) {
		return first + leastOf((*[ways]instant)(d.heap[first:]))
	}
	least := first
	for c := first + 1; c < min(first+ways, len(d.heap)); c++ {
		if d.heap[c].at < d.heap[least].at {
			least = c
		}
	}
	return least
}

// leastOf is written for conditional moves: which child is least is a matter of
// chance, and a branch would be mispredicted at each level.
func leastOf(x *[ways]instant) int {
	a, b := x[0].at, x[2].at
	i, j := 0, 2
	if at := x[1].at; at < a {
		a, i = at, 1
	}
	if at := x[3].at; at < b {
		b, j = at, 3
	}
	if b < a {
		i = j
	}
	return i
}

func (d *deadlines) place(i int, x instant) {
	d.heap[i] = x
	d.where[x.entry] = int32(i)
}
