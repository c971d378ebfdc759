package udp

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/windows"
)

// setOptions sets the options that Windows has.
func setOptions(fd int, v6 bool, cfg Config) error {
	if cfg.ReusePort {
		return option("ReusePort", errors.ErrUnsupported)
	}
	if cfg.Device != "" {
		return option("Device", errors.ErrUnsupported)
	}
	h := windows.Handle(fd)
	if cfg.TTL > 0 {
		level, name := windows.IPPROTO_IP, windows.IP_TTL
		if v6 {
			level, name = windows.IPPROTO_IPV6, windows.IPV6_UNICAST_HOPS
		}
		if err := windows.SetsockoptInt(h, level, name, cfg.TTL); err != nil {
			return option("TTL", err)
		}
	}
	if cfg.TOS > 0 && !v6 {
		return option("IP_TOS", windows.SetsockoptInt(h, windows.IPPROTO_IP, windows.IP_TOS, cfg.TOS))
	}
	return nil
}

// bufferSizes returns the buffer sizes that the system granted.
func bufferSizes(fd int) (recv, send int) {
	recv, _ = windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_RCVBUF)
	send, _ = windows.GetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_SNDBUF)
	return recv, send
}

// commonErrno adds the number that the other systems use, for errors.Is.
func commonErrno(e syscall.Errno) error {
	switch e {
	case windows.WSAEADDRINUSE:
		return fmt.Errorf("%w (%w)", syscall.EADDRINUSE, e)
	case windows.WSAEADDRNOTAVAIL:
		return fmt.Errorf("%w (%w)", syscall.EADDRNOTAVAIL, e)
	case windows.WSAEAFNOSUPPORT:
		return fmt.Errorf("%w (%w)", syscall.EAFNOSUPPORT, e)
	case windows.WSAEACCES:
		return fmt.Errorf("%w (%w)", syscall.EACCES, e)
	}
	return e
}

// tooLong tells whether a datagram was longer than the room for it.
func tooLong(err error) bool { return errors.Is(err, windows.WSAEMSGSIZE) }

// ofPeer tells whether a read failed because of a report on a peer.
func ofPeer(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAENETRESET)
}
