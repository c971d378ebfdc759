package engine

import "github.com/weirline/weirline/srtcore/wire"

// table holds the connections of an Endpoint by their own socket ids. Ids are
// given out in sequence from a random start, so the low bits alone name a place:
// one read finds the Conn, where a map hashes and probes for each datagram. An
// id whose place is taken is passed over.
type table struct {
	places []*Conn // length is a power of two, at least twice count
	count  int
}

const leastPlaces = 16

func (t *table) place(id wire.SocketID) **Conn {
	return &t.places[int(id)&(len(t.places)-1)]
}

// find returns the connection with this id, or nil.
func (t *table) find(id wire.SocketID) *Conn {
	if len(t.places) == 0 {
		return nil
	}
	if c := *t.place(id); c != nil && c.id == id {
		return c
	}
	return nil
}

// free makes sure that there is room for one more and reports whether the place
// of this id is free.
func (t *table) free(id wire.SocketID) bool {
	if 2*t.count >= len(t.places) {
		t.grow()
	}
	return *t.place(id) == nil
}

// add puts in a connection whose id was free.
func (t *table) add(c *Conn) {
	*t.place(c.id) = c
	t.count++
}

// grow doubles the table. Ids that differ in their low bits go on to do so.
func (t *table) grow() {
	old := t.places
	t.places = make([]*Conn, max(leastPlaces, 2*len(old)))
	for _, c := range old {
		if c != nil {
			*t.place(c.id) = c
		}
	}
}

// remove takes c out, if it is in.
func (t *table) remove(c *Conn) {
	if len(t.places) > 0 && *t.place(c.id) == c {
		*t.place(c.id) = nil
		t.count--
	}
}
