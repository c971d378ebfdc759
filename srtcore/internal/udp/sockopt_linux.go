package udp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// setBuffers asks for the buffer sizes. The FORCE forms exceed the system's
// limit if the process may; what was granted is read back by bufferSizes.
func setBuffers(fd int, cfg Config) {
	if n := bufferAsk(cfg.RecvBuf); unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, n) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, n)
	}
	if n := bufferAsk(cfg.SendBuf); unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, n) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, n)
	}
}

func bindToDevice(fd int, name string) error {
	return unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE, name)
}

// The kernel's struct sk_meminfo: nine numbers, the last one counts the
// datagrams that did not fit into the receive buffer.
const (
	meminfoVars  = 9
	meminfoDrops = 8
)

// kernelDrops returns how many datagrams the kernel dropped because the receive
// buffer was full; 0 on kernels that do not tell.
func kernelDrops(fd int) uint64 {
	var info [meminfoVars]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	return uint64(info[meminfoDrops])
}
