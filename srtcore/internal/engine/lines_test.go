package engine

import (
	"testing"
	"unsafe"
)

// span is one or several fields next to one another in a Conn.
type span struct{ from, size uintptr }

// lines counts the cache lines that the spans lie in. An object with pointers
// that is larger than 512 bytes begins 8 bytes into its line.
func lines(spans ...span) int {
	seen := map[uintptr]bool{}
	for _, s := range spans {
		for l := (s.from + 8) / 64; l <= (s.from+s.size+7)/64; l++ {
			seen[l] = true
		}
	}
	return len(seen)
}

// What a visit touches has to stay together: each line costs about 0.1 us when a
// loop comes round to the connection again, and a field in the wrong place costs
// one for every packet.
func TestVisitsTouchFewCacheLines(t *testing.T) {
	var c Conn
	base := uintptr(unsafe.Pointer(&c))
	at := func(p unsafe.Pointer, size uintptr) span { return span{uintptr(p) - base, size} }
	word := func(p unsafe.Pointer) span { return at(p, 8) }

	// Asked at every visit, whatever it is for.
	visit := []span{
		at(unsafe.Pointer(&c.User), 56), // peer, id, state
		at(unsafe.Pointer(&c.ep), 64),   // live, events, asked
		word(unsafe.Pointer(&c.rcv.rec)), word(unsafe.Pointer(&c.rcv.ack.due)),
		at(unsafe.Pointer(&c.rcv.loss), 40),
		at(unsafe.Pointer(&c.rcv.tsbpd), 32), word(unsafe.Pointer(&c.rcv.near)),
		at(unsafe.Pointer(&c.rcv.buf), unsafe.Sizeof(c.rcv.buf)),
		word(unsafe.Pointer(&c.snd.tail)), at(unsafe.Pointer(&c.snd.buf), 24),
		word(unsafe.Pointer(&c.km.refresh.next)), word(unsafe.Pointer(&c.km.rcvState)),
	}
	data := []span{
		at(unsafe.Pointer(&c.rcv.ack), 16), at(unsafe.Pointer(&c.rcv.order), 16),
		at(unsafe.Pointer(&c.rcv.rate), 40), at(unsafe.Pointer(&c.rcv.resync), 16),
		at(unsafe.Pointer(&c.stats.recv), 32),
	}
	send := []span{
		at(unsafe.Pointer(&c.epoch), 40), at(unsafe.Pointer(&c.snd.tail), 24),
		at(unsafe.Pointer(&c.snd.buf), unsafe.Sizeof(c.snd.buf)+24),
		at(unsafe.Pointer(&c.snd.pacer), 56), at(unsafe.Pointer(&c.snd.budget), 40),
		at(unsafe.Pointer(&c.snd.loss), 24), at(unsafe.Pointer(&c.stats.sent), 32),
	}
	for _, w := range []struct {
		name  string
		got   int
		bound int
	}{
		{"a visit", lines(visit...), 8},
		{"a data packet received", lines(append(data, visit...)...), 11},
		{"a packet sent", lines(append(send, visit...)...), 14},
	} {
		t.Logf("%s: %d lines of %d", w.name, w.got, (unsafe.Sizeof(c)+71)/64)
		if w.got > w.bound {
			t.Errorf("%s touches %d cache lines, want at most %d", w.name, w.got, w.bound)
		}
	}
}
