package loop

import "github.com/weirline/weirline/srtcore/internal/mono"

// deadline is one entry: a connection's or a socket's next instant.
type deadline struct {
	at    mono.Time
	index int // place in the heap plus one; zero: not in it
	conn  *Conn
	sock  *socket
}

// deadlines is a four-way heap of entries, the earliest first. Entries that
// are due never are not in it.
type deadlines struct{ heap []*deadline }

const ways = 4

// first returns the earliest instant, or Never.
func (d *deadlines) first() mono.Time {
	if len(d.heap) == 0 {
		return mono.Never
	}
	return d.heap[0].at
}

// set moves e to at; Never takes it out.
func (d *deadlines) set(e *deadline, at mono.Time) {
	switch {
	case e.index != 0 && e.at == at:
	case at == mono.Never:
		d.remove(e)
	case e.index == 0:
		e.at = at
		d.heap = append(d.heap, e)
		d.up(len(d.heap)-1, e)
	case at < e.at:
		e.at = at
		d.up(e.index-1, e)
	default:
		e.at = at
		d.down(e.index-1, e)
	}
}

func (d *deadlines) remove(e *deadline) {
	if e.index == 0 {
		return
	}
	i, n := e.index-1, len(d.heap)-1
	last := d.heap[n]
	d.heap[n] = nil
	d.heap = d.heap[:n]
	e.index = 0
	if last == e {
		return
	}
	if last.at < e.at {
		d.up(i, last)
	} else {
		d.down(i, last)
	}
}

// up places e at i or above.
func (d *deadlines) up(i int, e *deadline) {
	for i > 0 {
		parent := (i - 1) / ways
		if d.heap[parent].at <= e.at {
			break
		}
		d.place(i, d.heap[parent])
		i = parent
	}
	d.place(i, e)
}

// down places e at i or below.
func (d *deadlines) down(i int, e *deadline) {
	for {
		child := d.leastChild(i)
		if child < 0 || d.heap[child].at >= e.at {
			break
		}
		d.place(i, d.heap[child])
		i = child
	}
	d.place(i, e)
}

func (d *deadlines) leastChild(i int) int {
	first := i*ways + 1
	if first >= len(d.heap) {
		return -1
	}
	least := first
	for c := first + 1; c < min(first+ways, len(d.heap)); c++ {
		if d.heap[c].at < d.heap[least].at {
			least = c
		}
	}
	return least
}

func (d *deadlines) place(i int, e *deadline) {
	d.heap[i] = e
	e.index = i + 1
}
