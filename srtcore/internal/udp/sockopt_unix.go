//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package udp

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// setOptions sets what both kinds of socket share. An IPv6 socket that serves
// IPv4 too gets the options of both families; those of IPv4 may fail there, as
// some systems refuse them.
func setOptions(fd int, v6 bool, cfg Config) error {
	if cfg.ReusePort {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return option("SO_REUSEPORT", err)
		}
	}
	if cfg.Device != "" {
		if err := bindToDevice(fd, cfg.Device); err != nil {
			return option("SO_BINDTODEVICE", err)
		}
	}
	if !v6 {
		return setHeader4(fd, cfg)
	}
	_ = setHeader4(fd, cfg)
	return setHeader6(fd, cfg)
}

func setHeader4(fd int, cfg Config) error {
	if cfg.TTL > 0 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, cfg.TTL); err != nil {
			return option("IP_TTL", err)
		}
	}
	if cfg.TOS > 0 {
		return option("IP_TOS", unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, cfg.TOS))
	}
	return nil
}

func setHeader6(fd int, cfg Config) error {
	if cfg.TTL > 0 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, cfg.TTL); err != nil {
			return option("IPV6_UNICAST_HOPS", err)
		}
	}
	if cfg.TOS > 0 {
		return option("IPV6_TCLASS", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, cfg.TOS))
	}
	return nil
}

// bufferSizes returns the buffer sizes that the system granted (Linux doubles
// what was asked, to count its own overhead in).
func bufferSizes(fd int) (recv, send int) {
	recv, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	send, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	return recv, send
}

// commonErrno is for systems whose socket errors have numbers of their own.
func commonErrno(e syscall.Errno) error { return e }

// tooLong tells whether a datagram was longer than the room for it; here the
// rest is cut off silently instead.
func tooLong(error) bool { return false }

// ofPeer tells whether a read failed because of a report on a peer.
func ofPeer(err error) bool {
	return errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.EHOSTUNREACH) || errors.Is(err, unix.ENETUNREACH)
}
