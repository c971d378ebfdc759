package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

const (
	// What one sendmmsg takes. More goes into further calls, so that a raw
	// system call stays short.
	maxSendMsgs   = 64
	maxSendIovecs = 512
)

// sender is the sending half of a socket: the vector of messages that one
// system call takes. It points at the callers' bytes and copies nothing.
type sender struct {
	s        *socket
	plan     [maxSendMsgs]train
	msgs     [maxSendMsgs]mmsghdr
	controls [maxSendMsgs]control
	names    [maxSendMsgs]sockaddr
	iovs     [maxSendIovecs]unix.Iovec
	used     int // iovs that point at the caller's bytes
}

func newSender(s *socket) *sender { return &sender{s: s} }

// write sends out; see Socket.WriteBatch.
func (w *sender) write(out []dgram.Out) (done int, err error) {
	var plain fallback
	for done < len(out) {
		plan := w.next(out[done:], plain.left)
		sent, errno := w.sendmmsg(out[done:], plan)
		n := datagrams(plan[:sent])
		if errno != 0 {
			n, err = w.failed(plan[0], errno, &plain)
		} else {
			w.succeeded(plan[:sent], &plain)
		}
		plain.left = max(0, plain.left-n)
		done += n
		if err != nil {
			break
		}
	}
	clear(w.iovs[:w.used])
	w.used = 0
	return done, err
}

// fallback is a train that the kernel refused and that now leaves datagram by
// datagram.
type fallback struct {
	left    int  // datagrams of the train still to be sent
	suspect bool // trains as such are refused if these datagrams pass
}

// next plans the next system call; the left datagrams at the head go singly.
func (w *sender) next(out []dgram.Out, left int) []train {
	if left > 0 {
		return planTrains(w.plan[:0], out[:left], false, maxSendIovecs)
	}
	return planTrains(w.plan[:0], out, w.s.gso, maxSendIovecs)
}

func (w *sender) succeeded(sent []train, plain *fallback) {
	c := &w.s.count
	c.SendDatagrams += uint64(datagrams(sent))
	for _, t := range sent {
		if t.count > 1 {
			c.Trains++
		}
	}
	if plain.left > 0 && plain.suspect {
		w.s.gso = false
	}
}

// failed says what becomes of a message that the kernel refused: n datagrams
// are done with; or they leave as plain; or err ends the batch.
func (w *sender) failed(t train, errno unix.Errno, plain *fallback) (n int, err error) {
	switch errno {
	case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM:
		w.s.count.Again++
		return 0, ErrAgain
	case unix.EINTR:
		return 0, nil
	case unix.EIO, unix.EINVAL, unix.EMSGSIZE:
		if t.count > 1 {
			w.degrade(t, errno, plain)
			return 0, nil
		}
	}
	// A peer that cannot be reached must not stop the others.
	w.s.count.SendErrors += uint64(t.count)
	return t.count, nil
}

// degrade sends a refused train singly. EMSGSIZE speaks of this peer's path
// only, EIO of the device. EINVAL may mean either trains or, say, a source
// address that is gone, so it is decided by the datagrams' own fate.
func (w *sender) degrade(t train, errno unix.Errno, plain *fallback) {
	*plain = fallback{left: t.count, suspect: errno == unix.EINVAL}
	if errno == unix.EIO {
		w.s.gso = false
	}
}

// sendmmsg hands the planned messages to the kernel and returns how many it
// took; an error concerns the first one and comes only if it took none.
func (w *sender) sendmmsg(out []dgram.Out, plan []train) (int, unix.Errno) {
	w.build(out, plan)
	w.s.count.SendCalls++
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(w.s.fd),
		uintptr(unsafe.Pointer(&w.msgs[0])), uintptr(len(plan)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// build fills the vector. Messages to one peer share its encoded address.
func (w *sender) build(out []dgram.Out, plan []train) {
	var last netip.AddrPort
	iov := w.iovs[:]
	w.used = max(w.used, datagrams(plan))
	for i, t := range plan {
		head := &out[t.first]
		h := &w.msgs[i].hdr
		if i > 0 && head.To == last {
			h.Name, h.Namelen = w.msgs[i-1].hdr.Name, w.msgs[i-1].hdr.Namelen
		} else {
			last = head.To
			h.Name = (*byte)(unsafe.Pointer(&w.names[i]))
			h.Namelen = putAddr(&w.names[i], unmap(last), w.s.v6, &w.s.zones)
		}
		w.buildControl(i, head, t.count)
		for j, d := range out[t.first : t.first+t.count] {
			iov[j].Base = unsafe.SliceData(d.Data)
			iov[j].SetLen(len(d.Data))
		}
		h.Iov = &iov[0]
		h.SetIovlen(t.count)
		iov = iov[t.count:]
	}
}

// buildControl writes the stride of a train and the source address, if any.
func (w *sender) buildControl(i int, head *dgram.Out, count int) {
	c, h := &w.controls[i], &w.msgs[i].hdr
	n := 0
	if count > 1 {
		n = c.addStride(n, len(head.Data))
	}
	if w.s.any && sameFamily(head.From, head.To.Addr()) {
		n = c.addSource(n, head.From.Unmap(), w.s.v6)
	}
	h.Control = nil
	if n > 0 {
		h.Control = &c.bytes()[0]
	}
	h.SetControllen(n)
}

// sameFamily tells whether from is an address that datagrams to the peer can
// leave from.
func sameFamily(from, to netip.Addr) bool {
	return from.IsValid() && !from.IsUnspecified() && from.Unmap().Is4() == to.Unmap().Is4()
}
