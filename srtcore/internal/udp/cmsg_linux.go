package udp

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// control is room for the control messages of one message: the train's stride
// (24 bytes), a local address (40 bytes) and a time (32 bytes), with some to
// spare. The words keep it aligned.
type control [14]uint64

func (c *control) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(c)), unsafe.Sizeof(*c))
}

// add puts the header of a control message with n bytes of data at off and
// returns the place for the data and the offset behind it.
func (c *control) add(off int, level, kind int32, n int) (data []byte, next int) {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&c.bytes()[off]))
	h.Level, h.Type = level, kind
	h.SetLen(unix.CmsgLen(n))
	next = off + unix.CmsgSpace(n)
	data = c.bytes()[off+unix.CmsgLen(0) : next]
	clear(data)
	return data, next
}

// addStride asks the kernel to cut the message into datagrams of size bytes.
func (c *control) addStride(off, size int) int {
	data, next := c.add(off, unix.SOL_UDP, unix.UDP_SEGMENT, 2)
	binary.NativeEndian.PutUint16(data, uint16(size))
	return next
}

// addSource sets the local address that the message leaves from.
func (c *control) addSource(off int, from netip.Addr, v6 bool) int {
	if v6 {
		data, next := c.add(off, unix.SOL_IPV6, unix.IPV6_PKTINFO, unix.SizeofInet6Pktinfo)
		(*unix.Inet6Pktinfo)(unsafe.Pointer(&data[0])).Addr = from.As16()
		return next
	}
	data, next := c.add(off, unix.SOL_IP, unix.IP_PKTINFO, unix.SizeofInet4Pktinfo)
	(*unix.Inet4Pktinfo)(unsafe.Pointer(&data[0])).Spec_dst = from.As4()
	return next
}

// told is what the kernel tells about a received message.
type told struct {
	stride int        // of a train, 0 if it is none
	to     netip.Addr // local address; invalid if untold
	at     int64      // arrival by the system's clock, ns since 1970; 0 if untold
}

func readControl(b []byte) (t told) {
	for len(b) >= unix.CmsgLen(0) {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		switch {
		case h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO:
			t.stride = getStride(data)
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(data) >= 16:
			t.at = int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:]))
		case h.Level == unix.SOL_IP && h.Type == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
			t.to = netip.AddrFrom4((*unix.Inet4Pktinfo)(unsafe.Pointer(&data[0])).Spec_dst)
		case h.Level == unix.SOL_IPV6 && h.Type == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
			t.to = netip.AddrFrom16((*unix.Inet6Pktinfo)(unsafe.Pointer(&data[0])).Addr).Unmap()
		}
		b = rest
	}
	return t
}

// getStride reads the length of a train's datagrams, an int in the kernel.
func getStride(data []byte) int {
	switch {
	case len(data) >= 4:
		return int(binary.NativeEndian.Uint32(data))
	case len(data) >= 2:
		return int(binary.NativeEndian.Uint16(data))
	}
	return 0
}
