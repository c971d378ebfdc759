package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/weirline/weirline/srtcore/wire"
)

func TestTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	e := NewEndpoint(EndpointConfig{Rand: zeros{}})
	e.nextID = socketIDMask - 100 // ids wrap soon
	model := make(map[wire.SocketID]*Conn)
	for range 5000 {
		if rnd.IntN(100) < 55 {
			c := &Conn{id: e.newSocketID()}
			if c.id == 0 || model[c.id] != nil {
				t.Fatalf("id %d was given out again", c.id)
			}
			e.conns.add(c)
			model[c.id] = c
		}
		for id, c := range model { // any
			if rnd.IntN(2) == 0 {
				e.conns.remove(c)
				e.conns.remove(c)
				delete(model, id)
			}
			break
		}
		if e.Conns() != len(model) {
			t.Fatalf("%d connections, want %d", e.Conns(), len(model))
		}
	}
	for id, c := range model {
		stray := id ^ 1<<29
		if e.conns.find(id) != c || e.conns.find(stray) != model[stray] {
			t.Fatalf("id %d is not found, or found by another id", id)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
