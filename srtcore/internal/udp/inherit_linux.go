package udp

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// inheritFD duplicates a descriptor and says where it is bound.
func inheritFD(fd int) (own int, at netip.AddrPort, err error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return -1, at, fmt.Errorf("descriptor %d is no socket: %w", fd, err)
	}
	if kind != unix.SOCK_DGRAM {
		return -1, at, fmt.Errorf("descriptor %d is no UDP socket", fd)
	}
	own, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, at, err
	}
	s := &socket{fd: own}
	err = s.learnLocal()
	if err == nil && s.local.Port() == 0 {
		err = errors.New("the socket is not bound")
	}
	if err == nil {
		err = unix.SetNonblock(own, true)
	}
	if err != nil {
		unix.Close(own)
		return -1, at, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	return own, s.local, nil
}

func closeFD(fd int) { unix.Close(fd) }

// Duplicate returns a descriptor of the socket for another process. It stays
// bound as long as one of the two is open.
func (s *Socket) Duplicate() (int, error) {
	if s.FD() < 0 {
		return -1, errors.ErrUnsupported
	}
	return unix.FcntlInt(uintptr(s.FD()), unix.F_DUPFD_CLOEXEC, 0)
}
