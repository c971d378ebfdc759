package inflow

import (
	"encoding/binary"
	"errors"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var errNothing = errors.New("nothing there")

// socket reads a TCP socket past the runtime's poller: by raw system calls,
// which never block here. Ordinary ones would wake the runtime's monitor thread
// each time.
type socket struct {
	conn syscall.RawConn
	fd   uintptr // valid between begin and end

	// Of the read in progress.
	hdr unix.Msghdr
	iov unix.Iovec
	oob [64]byte
}

func newSocket(c *net.TCPConn) (*socket, bool) {
	conn, err := c.SyscallConn()
	if err != nil {
		return nil, false
	}
	return &socket{conn: conn}, true
}

// begin keeps arrivals from waking anybody: below the low-water mark the kernel
// does not tell the poller of them.
func (s *socket) begin() bool {
	if s.conn.Control(func(fd uintptr) { s.fd = fd }) != nil {
		return false
	}
	return s.set(unix.SO_TIMESTAMPNS, 1) && s.set(unix.SO_RCVLOWAT, roomSize)
}

func (s *socket) end() { s.set(unix.SO_RCVLOWAT, 1) }

func (s *socket) set(option, value int) bool {
	var failed error
	err := s.conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, value)
	})
	return err == nil && failed == nil
}

// read returns what is there, and how long ago it arrived; errNothing; or no
// bytes and why, nil being the end. It is called between begin and end only.
func (s *socket) read(into []byte) (n int, age time.Duration, err error) {
	s.iov.Base = &into[0]
	s.iov.SetLen(len(into))
	s.hdr = unix.Msghdr{Iov: &s.iov, Control: &s.oob[0]}
	s.hdr.SetIovlen(1)
	s.hdr.SetControllen(len(s.oob))
	k, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, s.fd, uintptr(unsafe.Pointer(&s.hdr)), unix.MSG_DONTWAIT)
	s.iov.Base = nil
	if errno != 0 {
		return 0, 0, nothing(errno)
	}
	return int(k), s.age(), nil
}

// more is read without the age.
func (s *socket) more(into []byte) (n int, err error) {
	k, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, s.fd, uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, nothing(errno)
	}
	return int(k), nil
}

func nothing(errno syscall.Errno) error {
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return errNothing
	}
	return errno
}

// age is by the kernel's time stamp; 0 if there is none, or the clock was set.
func (s *socket) age() time.Duration {
	const head = unix.SizeofCmsghdr
	if int(s.hdr.Controllen) < head+16 {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&s.oob))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	at := int64(binary.NativeEndian.Uint64(s.oob[head:]))*1e9 + int64(binary.NativeEndian.Uint64(s.oob[head+8:]))
	return max(0, time.Duration(time.Now().UnixNano()-at))
}
