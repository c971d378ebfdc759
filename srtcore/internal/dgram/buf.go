// Package dgram holds the memory of datagrams on their way: Buf with one owner,
// the free lists it comes from, received and outgoing datagrams and the batch
// that collects the latter.
//
// Lives here: memory and addresses of datagrams, nothing about their meaning.
// May import: mono, net/netip, sync. Never: engine, wire, net, time.
package dgram

// Size is the room of a Buf: the largest UDP payload that fits an Ethernet
// frame (1500 - 28 bytes of IPv4 and UDP header).
const Size = 1472

// HeaderSize is the part of every Buf that the SRT header takes.
const HeaderSize = 16

// Buf holds one datagram: 16 bytes of SRT header, then the payload. It has one
// owner; handing it on is a move. It holds no pointers, so the garbage
// collector never looks inside.
type Buf struct {
	n    uint16
	free bool
	mem  [Size]byte
}

// Reset makes the Buf n bytes long; the content is whatever was there.
func (b *Buf) Reset(n int) { b.n = uint16(min(n, Size)) }

// Len returns the length of the datagram, header included.
func (b *Buf) Len() int { return int(b.n) }

// Bytes returns the whole datagram.
func (b *Buf) Bytes() []byte { return b.mem[:b.n:Size] }

// Header returns the 16 bytes of the SRT header.
func (b *Buf) Header() []byte { return b.mem[:HeaderSize:HeaderSize] }

// Payload returns what follows the header; empty if the Buf is shorter.
func (b *Buf) Payload() []byte {
	if b.n < HeaderSize {
		return nil
	}
	return b.mem[HeaderSize:b.n:Size]
}

// SetPayload copies p behind the header, sets the length and returns the number
// of bytes copied (less than len(p) if p does not fit).
func (b *Buf) SetPayload(p []byte) int {
	n := copy(b.mem[HeaderSize:], p)
	b.n = uint16(HeaderSize + n)
	return n
}

// Mem returns the whole room of the Buf for a reader to fill; Reset follows.
func (b *Buf) Mem() []byte { return b.mem[:] }
