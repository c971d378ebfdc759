package endpoint

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// bindGroup binds to the group itself and not, as package net does, to every
// address: then nothing else that comes to the port is heard, neither another
// group that somebody on this host has joined nor what is sent to the host.
func bindGroup(group *net.UDPAddr, reuse bool) (*net.UDPConn, error) {
	var sa unix.Sockaddr
	family := unix.AF_INET6
	if ip := group.IP.To4(); ip != nil {
		family = unix.AF_INET
		sa = &unix.SockaddrInet4{Port: group.Port, Addr: [4]byte(ip)}
	} else {
		sa = &unix.SockaddrInet6{Port: group.Port, Addr: [16]byte(group.IP.To16()), ZoneId: zone(group.Zone)}
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	f := os.NewFile(uintptr(fd), group.String())
	defer f.Close() // package net has a duplicate
	if reuse {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
			return nil, os.NewSyscallError("setsockopt", err)
		}
	}
	if err := unix.Bind(fd, sa); err != nil {
		return nil, &net.OpError{Op: "listen", Net: "udp", Addr: group, Err: os.NewSyscallError("bind", err)}
	}
	c, err := net.FilePacketConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// zone is the number of the interface that a link-local address belongs to.
func zone(name string) uint32 {
	if i, err := net.InterfaceByName(name); err == nil {
		return uint32(i.Index)
	}
	return 0
}
