package udp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sockaddr is room for an address of either family, in the kernel's form.
type sockaddr = unix.RawSockaddrInet6

// putAddr writes a in the form that a socket of the family wants and returns
// its length. A socket of IPv6 reaches IPv4 peers by mapped addresses. An
// address that the socket cannot reach is written all the same: the kernel
// refuses that datagram alone.
func putAddr(sa *sockaddr, a netip.AddrPort, v6 bool, z *zones) uint32 {
	if !v6 && a.Addr().Is4() {
		sa4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		*sa4 = unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: a.Addr().As4()}
		putPort(&sa4.Port, a.Port())
		return unix.SizeofSockaddrInet4
	}
	*sa = sockaddr{Family: unix.AF_INET6, Addr: a.Addr().As16()}
	putPort(&sa.Port, a.Port())
	if zone := a.Addr().Zone(); zone != "" {
		sa.Scope_id = z.index(zone)
	}
	return unix.SizeofSockaddrInet6
}

// getAddr reads a peer's address; mapped addresses come out as IPv4.
func getAddr(sa *sockaddr, z *zones) netip.AddrPort {
	if sa.Family == unix.AF_INET {
		sa4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom4(sa4.Addr), getPort(&sa4.Port))
	}
	a := netip.AddrFrom16(sa.Addr).Unmap()
	if sa.Scope_id != 0 && a.Is6() {
		a = a.WithZone(z.name(sa.Scope_id))
	}
	return netip.AddrPortFrom(a, getPort(&sa.Port))
}

// A port lies in memory in network order.
func putPort(p *uint16, port uint16) {
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(p))[:], port)
}

func getPort(p *uint16) uint16 {
	return binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(p))[:])
}

// zones remembers the names of the interfaces that link-local addresses name.
// The names are those of package net, so that addresses compare equal.
type zones struct {
	names map[uint32]string
}

func (z *zones) name(index uint32) string {
	if name, ok := z.names[index]; ok {
		return name
	}
	name := strconv.FormatUint(uint64(index), 10)
	if ifc, err := net.InterfaceByIndex(int(index)); err == nil {
		name = ifc.Name
	}
	z.remember(index, name)
	return name
}

func (z *zones) index(name string) uint32 {
	for index, known := range z.names {
		if known == name {
			return index
		}
	}
	if name == "" {
		return 0
	}
	ifc, err := net.InterfaceByName(name)
	if err != nil {
		n, _ := strconv.ParseUint(name, 10, 32)
		return uint32(n)
	}
	z.remember(uint32(ifc.Index), name)
	return uint32(ifc.Index)
}

func (z *zones) remember(index uint32, name string) {
	if z.names == nil {
		z.names = make(map[uint32]string)
	}
	z.names[index] = name
}
