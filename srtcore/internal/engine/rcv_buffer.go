package engine

import (
	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// rcvSlot is one received packet; a nil buf is a hole. The rest stands in the
// packet's own header, but what is asked at every turn until the packet is due
// stands here too: the header would have to come from memory each time. 16
// bytes; a test guards that.
type rcvSlot struct {
	buf   *dgram.Buf
	stamp wire.Timestamp
	size  uint16 // of the payload, bytes
}

// rcvBuffer is the ring of received packets by sequence number, from the first
// not yet delivered. Which slots are holes is what rcvLoss lists.
type rcvBuffer struct {
	count int // packets held, tombstones included
	span  int // from first to the highest number seen
	first seq.Number
	head  uint32    // slot of first
	slots []rcvSlot // length is a power of two
	limit int       // largest span
	bytes int       // payload bytes held
}

// tombstone fills the slot of a packet that counts as received but is not
// delivered: it could not be decrypted, or its sender dropped it.
var tombstone = new(dgram.Buf)

const rcvRingStart = 16

func (r *rcvBuffer) init(first seq.Number, limit int) { r.first, r.limit = first, max(limit, 1) }

// end returns the number after the highest seen.
func (r *rcvBuffer) end() seq.Number { return r.first.Add(r.span) }

func (r *rcvBuffer) slot(off int) *rcvSlot { return &r.slots[(int(r.head)+off)&(len(r.slots)-1)] }

// at returns the packet off steps behind first; nil is a hole.
func (r *rcvBuffer) at(off int) *dgram.Buf {
	if off >= r.span {
		return nil
	}
	return r.slot(off).buf
}

// put fills the slot off steps behind first; the buffer owns b now.
func (r *rcvBuffer) put(off int, b *dgram.Buf) {
	for off >= len(r.slots) {
		r.grow()
	}
	s := rcvSlot{buf: b}
	if b != tombstone {
		s.stamp, s.size = wire.Stamp(b.Header()), uint16(b.Len()-dgram.HeaderSize)
	}
	*r.slot(off) = s
	r.count++
	r.span = max(r.span, off+1)
	r.bytes += int(s.size)
}

func (r *rcvBuffer) grow() {
	bigger := make([]rcvSlot, max(rcvRingStart, 2*len(r.slots)))
	for i := range r.span {
		bigger[i] = *r.slot(i)
	}
	r.slots, r.head = bigger, 0
}

// pop removes the first slot and returns what was in it; nil for a hole.
func (r *rcvBuffer) pop() *dgram.Buf {
	p := r.slot(0)
	b := p.buf
	r.bytes -= int(p.size)
	*p = rcvSlot{}
	r.head = (r.head + 1) & uint32(len(r.slots)-1)
	r.first = r.first.Next()
	r.span--
	if b != nil {
		r.count--
	}
	if r.span == 0 && len(r.slots) > 1024 {
		r.slots, r.head = nil, 0 // memory of a past peak
	}
	return b
}

func (r *rcvBuffer) release(cache *dgram.Cache) {
	for r.span > 0 {
		if b := r.pop(); b != nil && b != tombstone {
			cache.Put(b)
		}
	}
}
