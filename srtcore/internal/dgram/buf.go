// Package dgram holds the memory of datagrams on their way: Buf with one owner,
// the free lists it comes from, the slabs that trains are received into, received and outgoing datagrams and the batch
// that collects the latter.
//
// Lives here: memory and addresses of datagrams, nothing about their meaning.
// May import: mono, net/netip, sync, sync/atomic. Never: engine, wire, net, time.
package dgram

// Size is the room of a Buf: the largest UDP payload that fits an Ethernet
// frame (1500 - 28 bytes of IPv4 and UDP header).
const Size = 1472

// HeaderSize is the part of every Buf that the SRT header takes.
const HeaderSize = 16

// Buf holds one datagram: 16 bytes of SRT header, then the payload. It has one
// owner; handing it on is a move. Its bytes are memory of its own, or a part of
// a Slab that is nobody else's; the owner need not know which. 24 bytes; a test
// guards that.
type Buf struct {
	own  *[Size]byte // nil: a view, or a zero Buf, which gets memory when used
	slab *Slab       // nil: not a view
	off  uint16      // of a view: where its bytes begin in the slab
	room uint16      // of a view: how many they are
	n    uint16
	free bool
}

// NewBuf returns a Buf with memory of its own, both in one allocation.
func NewBuf() *Buf {
	b := new(struct {
		Buf
		mem [Size]byte
	})
	b.own = &b.mem
	return &b.Buf
}

// memory returns the memory of a Buf that is no view.
func (b *Buf) memory() *[Size]byte {
	if b.own == nil {
		b.own = new([Size]byte)
	}
	return b.own
}

// Reset makes the Buf n bytes long, or as long as there is room; the content is
// whatever was there.
func (b *Buf) Reset(n int) {
	room := Size
	if b.slab != nil {
		room = int(b.room)
	}
	b.n = uint16(min(n, room))
}

// Len returns the length of the datagram, header included.
func (b *Buf) Len() int { return int(b.n) }

// Bytes returns the whole datagram.
func (b *Buf) Bytes() []byte { return b.Mem()[:b.n] }

// Header returns the 16 bytes of the SRT header.
func (b *Buf) Header() []byte { return b.Mem()[:HeaderSize:HeaderSize] }

// Payload returns what follows the header; empty if the Buf is shorter.
func (b *Buf) Payload() []byte {
	if b.n < HeaderSize {
		return nil
	}
	return b.Mem()[HeaderSize:b.n]
}

// SetPayload copies p behind the header, sets the length and returns the number
// of bytes copied (less than len(p) if p does not fit).
func (b *Buf) SetPayload(p []byte) int {
	n := copy(b.Mem()[HeaderSize:], p)
	b.n = uint16(HeaderSize + n)
	return n
}

// Mem returns the whole room of the Buf for a reader to fill; Reset follows. A
// view has no more room than the datagram that came in it.
func (b *Buf) Mem() []byte {
	if s := b.slab; s != nil {
		return s.mem[b.off : int(b.off)+int(b.room) : int(b.off)+int(b.room)]
	}
	return b.memory()[:]
}
