package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// sndSlot is one packet from Send to its ACK. All else about it stands in the
// packet's own header; the stamp stands here too, because the oldest is asked for
// its age at every Send, and its header has left the caches. 16 bytes; a test
// guards that.
type sndSlot struct {
	buf    *dgram.Buf
	stamp  wire.Timestamp
	sentAt uint32 // of the last transmission, us; wraps, see since
}

// since returns how long ago the packet was sent last. After 71 minutes it
// begins anew: then one report more or less is served.
func (s *sndSlot) since(now mono.Time) time.Duration {
	return time.Duration(uint32(now.Micros())-s.sentAt) * time.Microsecond
}

// sndBuffer is the ring of packets that are not yet acknowledged. It owns their
// Bufs until ACK or too-late drop.
type sndBuffer struct {
	n     int // packets held
	sent  int // of these, sent at least once
	first seq.Number
	head  uint32    // slot of first
	slots []sndSlot // length is a power of two
	limit int       // most packets held
	bytes int       // payload bytes held
}

const sndRingStart = 16

func (s *sndBuffer) init(first seq.Number, limit int) {
	s.first, s.limit = first, max(limit, 1)
}

// next returns the sequence number that push gives.
func (s *sndBuffer) next() seq.Number { return s.first.Add(s.n) }

// nextNew returns the first number never sent.
func (s *sndBuffer) nextNew() seq.Number { return s.first.Add(s.sent) }

// at returns the slot of the packet off steps behind first.
func (s *sndBuffer) at(off int) *sndSlot { return &s.slots[(int(s.head)+off)&(len(s.slots)-1)] }

func (s *sndBuffer) full() bool { return s.n >= s.limit }

// push appends a packet; the buffer owns it now.
func (s *sndBuffer) push(b *dgram.Buf) {
	if s.n == len(s.slots) {
		s.grow()
	}
	*s.at(s.n) = sndSlot{buf: b, stamp: wire.Stamp(b.Header())}
	s.n++
	s.bytes += b.Len() - dgram.HeaderSize
}

func (s *sndBuffer) grow() {
	bigger := make([]sndSlot, max(sndRingStart, 2*len(s.slots)))
	for i := range s.n {
		bigger[i] = *s.at(i)
	}
	s.slots, s.head = bigger, 0
}

// drop releases the oldest n packets and returns their payload bytes.
func (s *sndBuffer) drop(n int, cache *dgram.Cache) (bytes int) {
	for range n {
		slot := s.at(0)
		bytes += slot.buf.Len() - dgram.HeaderSize
		cache.Put(slot.buf)
		*slot = sndSlot{}
		s.head = (s.head + 1) & uint32(len(s.slots)-1)
		s.first = s.first.Next()
		s.n--
	}
	s.sent = max(s.sent-n, 0)
	s.bytes -= bytes
	s.shrink()
	return bytes
}

// shrink gives the memory of a past peak back once the ring is empty.
func (s *sndBuffer) shrink() {
	if s.n == 0 && len(s.slots) > 1024 {
		s.slots, s.head = nil, 0
	}
}
