package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

const (
	// A slot of the receiving vector holds the longest train, or one datagram
	// with room to notice that it is too long.
	trainRoom = dgram.SlabSize
	plainRoom = dgram.Size + 64

	// The vector starts small and doubles whenever the kernel filled it, so
	// that a quiet socket costs little memory.
	firstSlots    = 2
	maxTrainSlots = 8
	maxPlainSlots = 32
)

// mmsghdr is the kernel's struct mmsghdr; Go's alignment rules give the padding
// of every architecture.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
}

// receiver is the receiving half of a socket: a vector of messages that one
// system call fills, and the place in it that was reached.
type receiver struct {
	s        *socket
	room     int // bytes of a slot
	slots    int // slots in use
	maxSlots int

	msgs     [maxPlainSlots]mmsghdr
	iovs     [maxPlainSlots]unix.Iovec
	names    [maxPlainSlots]sockaddr
	controls [maxPlainSlots]control
	rooms    [maxPlainSlots][]byte
	slabs    [maxTrainSlots]*dgram.Slab // what rooms are, where trains come in

	cache  *dgram.Cache // of the last read
	filled int          // messages that the last call brought
	slot   int          // the message to be cut, < filled while there are any
	full   bool         // the last call filled the vector: there may be more
	cur    message
}

// message is the received message that is being cut into datagrams.
type message struct {
	data   []byte
	stride int
	next   int // the datagram to be delivered
	count  int
	slab   *dgram.Slab // lent, and data is in it; nil: datagrams are copied
	views  int         // of slab, yet to be taken
	from   netip.AddrPort
	to     netip.Addr
	at     int64
}

func newReceiver(s *socket, c *dgram.Cache) *receiver {
	r := &receiver{s: s, room: plainRoom, maxSlots: maxPlainSlots, cache: c}
	if s.gro {
		r.room, r.maxSlots = trainRoom, maxTrainSlots
	}
	r.grow(firstSlots)
	return r
}

// grow brings the vector to n slots.
func (r *receiver) grow(n int) {
	for ; r.slots < n; r.slots++ {
		i := r.slots
		if r.s.gro {
			r.hold(i, r.cache.Slab())
		} else {
			r.fit(i, make([]byte, r.room))
		}
		h := &r.msgs[i].hdr
		h.Name = (*byte)(unsafe.Pointer(&r.names[i]))
		h.Iov = &r.iovs[i]
		h.SetIovlen(1)
		h.Control = &r.controls[i].bytes()[0]
	}
}

// hold makes slab the memory of the slot.
func (r *receiver) hold(slot int, slab *dgram.Slab) {
	r.slabs[slot] = slab
	r.fit(slot, slab.Mem())
}

func (r *receiver) fit(slot int, room []byte) {
	r.rooms[slot] = room
	r.iovs[slot].Base = &room[0]
	r.iovs[slot].SetLen(len(room))
}

// read delivers what is left of the last call and then calls the kernel until
// dst is full or the kernel has less than a vector.
func (r *receiver) read(c *dgram.Cache, dst []dgram.In) (n int, more bool, err error) {
	r.cache = c
	n = r.deliver(dst)
	for n < len(dst) {
		if err := r.fill(); err != nil {
			return n, false, err
		}
		n += r.deliver(dst[n:])
		if !r.full {
			break
		}
	}
	return n, r.full || r.slot < r.filled, nil
}

// fill receives a vector of messages; nothing there is no error.
func (r *receiver) fill() error {
	r.filled, r.slot, r.full = 0, 0, false
	n, errno := r.recvmmsg()
	if errno == unix.EAGAIN || errno == 0 && n == 0 {
		return nil
	}
	if errno != 0 {
		return errno
	}
	r.filled, r.full = n, n == r.slots
	r.load()
	if r.full && r.slots < r.maxSlots {
		r.grow(2 * r.slots)
	}
	return nil
}

// recvmmsg is the system call. An error that an earlier datagram caused at a
// peer's host is reported once and cleared; the call is then repeated.
func (r *receiver) recvmmsg() (int, unix.Errno) {
	for range 4 {
		r.arm()
		r.s.count.RecvCalls++
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(r.s.fd),
			uintptr(unsafe.Pointer(&r.msgs[0])), uintptr(r.slots), 0, 0, 0)
		switch errno {
		case 0:
			return int(n), 0
		case unix.EINTR, unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.ENETDOWN:
		default:
			return 0, errno
		}
	}
	return 0, unix.EAGAIN
}

// arm restores the lengths that the kernel overwrote.
func (r *receiver) arm() {
	for i := range r.slots {
		h := &r.msgs[i].hdr
		h.Namelen = unix.SizeofSockaddrInet6
		h.SetControllen(len(r.controls[i].bytes()))
		h.Flags = 0
	}
}

// load makes the message at slot the one to be cut.
func (r *receiver) load() {
	m := &r.msgs[r.slot]
	t := readControl(r.controls[r.slot].bytes()[:m.hdr.Controllen])
	if !r.s.any {
		t.to = r.s.local.Addr()
	}
	data := r.rooms[r.slot][:m.n]
	c := &r.cur
	c.data, c.stride, c.next, c.count = data, t.stride, 0, segments(len(data), t.stride)
	c.slab, c.views = nil, 0
	c.from, c.to, c.at = getAddr(&r.names[r.slot], &r.s.zones), t.to, t.at
	if n := views(len(data), t.stride); n > 0 && r.s.gro {
		r.lend(n)
	}
}

// lend makes n datagrams of the current message views of its slab, and gives the
// slot another slab. With too many slabs lent the datagrams are copied.
func (r *receiver) lend(n int) {
	slab := r.slabs[r.slot]
	if next := r.cache.Lend(slab, n); next != nil {
		r.cur.slab, r.cur.views = slab, n
		r.hold(r.slot, next)
	}
}

// deliver moves datagrams from the vector into dst until either is used up.
func (r *receiver) deliver(dst []dgram.In) int {
	n := 0
	for r.slot < r.filled {
		n += r.cut(dst[n:])
		if r.cur.next < r.cur.count {
			break
		}
		if r.slot++; r.slot < r.filled {
			r.load()
		}
	}
	r.s.count.RecvDatagrams += uint64(n)
	return n
}

// cut makes Bufs of datagrams of the current message.
func (r *receiver) cut(dst []dgram.In) int {
	m := &r.cur
	n := 0
	for ; m.next < m.count && n < len(dst); m.next++ {
		data := segment(m.data, m.stride, m.next)
		if len(data) > dgram.Size {
			r.s.count.Oversize++
			continue
		}
		// Field by field: a literal is built on the stack and read back, which
		// waits until the copy before it has reached the memory.
		d := &dst[n]
		d.Buf, d.From, d.To, d.At = r.buf(data), m.from, m.to, m.at
		n++
	}
	return n
}

// buf returns the Buf of the current datagram of the current message: a view of
// its slab, or a copy.
func (r *receiver) buf(data []byte) *dgram.Buf {
	m := &r.cur
	if m.slab != nil && len(data) >= dgram.HeaderSize {
		m.views--
		return r.cache.View(m.slab, m.next*m.stride, len(data))
	}
	b := r.cache.Get()
	b.Reset(copy(b.Mem(), data))
	return b
}

// close gives back what the receiver has: its slabs, and the views of what it
// has not delivered.
func (r *receiver) close() {
	if r.cur.views > 0 {
		r.cache.Unlend(r.cur.slab, r.cur.views)
	}
	for _, s := range r.slabs {
		if s != nil {
			r.cache.PutSlab(s)
		}
	}
}
