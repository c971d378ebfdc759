package dgram

import "net/netip"

// In is a received datagram. Its Buf is owned by whoever holds the In.
type In struct {
	Buf *Buf
	// From is the peer's address and port.
	From netip.AddrPort
	// To is the local address the datagram was sent to; invalid if unknown.
	To netip.Addr
	// At is when the system received the datagram, by its clock, in nanoseconds
	// since 1970; 0 if unknown.
	At int64
	// Lag is how many nanoseconds before it was handed on that was, where it
	// matters: for handshakes and ACKACKs, which tell the time.
	Lag int64
}

// Out is a datagram to be sent. Data stays valid until the batch is written.
type Out struct {
	Data []byte
	To   netip.AddrPort
	// From is the local address to send from; invalid leaves the choice to
	// the system.
	From netip.Addr
}

// Batch collects outgoing datagrams of many connections: control packets, whose
// bytes it owns, and data packets, whose bytes stay with their connection.
// Control goes first, so that equal sizes stand together.
type Batch struct {
	Control []Out
	Data    []Out
	arena   []byte
	used    int
}

const arenaSize = 64 << 10

// AddControl reserves n bytes for a control packet and returns them to be
// filled before the next call.
func (b *Batch) AddControl(n int, to netip.AddrPort, from netip.Addr) []byte {
	if len(b.arena)-b.used < n {
		// Earlier packets keep the old arena alive through their slices.
		b.arena = make([]byte, max(arenaSize, n))
		b.used = 0
	}
	p := b.arena[b.used : b.used+n : b.used+n]
	b.used += n
	b.Control = extend(b.Control)
	o := &b.Control[len(b.Control)-1]
	o.Data, o.To, o.From = p, to, from
	return p
}

// AddData adds a data packet.
func (b *Batch) AddData(data []byte, to netip.AddrPort, from netip.Addr) {
	b.Data = extend(b.Data)
	o := &b.Data[len(b.Data)-1]
	o.Data, o.To, o.From = data, to, from
}

// extend makes room for one more, to be filled field by field: a literal would
// be built on the stack and read back, which waits for all earlier writes.
func extend(s []Out) []Out {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	return append(s, Out{})
}

// Len returns the number of datagrams.
func (b *Batch) Len() int { return len(b.Control) + len(b.Data) }

// Reset empties the batch; the slices it gave out become invalid.
func (b *Batch) Reset() {
	// Stale slices would keep arenas and Bufs from the garbage collector.
	clear(b.Control)
	clear(b.Data)
	b.Control, b.Data, b.used = b.Control[:0], b.Data[:0], 0
}
