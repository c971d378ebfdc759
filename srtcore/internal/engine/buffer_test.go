package engine

import (
	"testing"
	"unsafe"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/seq"
)

// The budget of ring metadata: hundreds of connections hold thousands of
// packets each. With its Buf a packet has at most 40 bytes beside its own.
const (
	_ = uint(40 - unsafe.Sizeof(sndSlot{}) - unsafe.Sizeof(dgram.Buf{}))
	_ = uint(40 - unsafe.Sizeof(rcvSlot{}) - unsafe.Sizeof(dgram.Buf{}))
	_ = uint(16 - unsafe.Sizeof(sndSlot{}))
	_ = uint(16 - unsafe.Sizeof(rcvSlot{}))
)

func newCache() *dgram.Cache { return dgram.NewCache(dgram.NewPool(1024)) }

func packet(c *dgram.Cache, n int) *dgram.Buf {
	b := c.Get()
	b.SetPayload(make([]byte, n))
	return b
}

func TestSndBufferKeepsOrderWhileGrowingAndWrapping(t *testing.T) {
	cache := newCache()
	var s sndBuffer
	s.init(seq.Max.Prev(), 100)
	next, oldest := 0, 0
	for round := range 50 {
		for range 1 + round%7 {
			s.push(packet(cache, 100+next))
			next++
		}
		for i := range s.n {
			if got := s.at(i).buf.Len() - dgram.HeaderSize; got != 100+oldest+i {
				t.Fatalf("round %d: slot %d holds %d, want %d", round, i, got, 100+oldest+i)
			}
		}
		s.sent = s.n
		k := min(s.n, 1+round%5)
		s.drop(k, cache)
		oldest += k
		if s.first != seq.Max.Prev().Add(oldest) || s.sent != s.n {
			t.Fatalf("round %d: first %d, sent %d of %d", round, s.first, s.sent, s.n)
		}
	}
	s.drop(s.n, cache)
	if s.bytes != 0 || s.n != 0 {
		t.Fatalf("empty buffer counts %d bytes, %d packets", s.bytes, s.n)
	}
}

func TestRcvBufferHolesAndOrder(t *testing.T) {
	cache := newCache()
	var r rcvBuffer
	r.init(5, 64)
	r.put(3, packet(cache, 3))
	r.put(0, packet(cache, 10))
	r.put(40, packet(cache, 40))
	if r.span != 41 || r.count != 3 || r.end() != 46 {
		t.Fatalf("span %d count %d end %d", r.span, r.count, r.end())
	}
	if b := r.pop(); b == nil || b.Len() != 26 {
		t.Fatal("first packet lost")
	}
	for range 2 {
		if r.pop() != nil {
			t.Fatal("a hole is not empty")
		}
	}
	if b := r.at(0); b == nil || b.Len() != 19 || r.first != 8 {
		t.Fatalf("after the hole: %v, first %d", b, r.first)
	}
	r.release(cache)
	if r.count != 0 || r.bytes != 0 || r.span != 0 {
		t.Fatalf("released buffer holds count %d, bytes %d, span %d", r.count, r.bytes, r.span)
	}
}
