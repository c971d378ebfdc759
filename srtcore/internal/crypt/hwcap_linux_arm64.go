//go:build !purego

package crypt

import (
	"encoding/binary"
	"syscall"
)

// Of Linux's auxiliary vector (getauxval(3)): the entry of the processor's
// features, and among those the AES instructions.
const (
	auxHWCap = 16
	hwcapAES = 1 << 3
)

func cpuHasAES() bool { return auxValue(readAuxv(), auxHWCap)&hwcapAES != 0 }

// readAuxv returns the auxiliary vector; if there is no /proc, nothing, and
// the standard library does the work.
func readAuxv() []byte {
	fd, err := syscall.Open("/proc/self/auxv", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	buf := make([]byte, 1024)
	n, err := syscall.Read(fd, buf)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// auxValue finds an entry in pairs of type and value.
func auxValue(auxv []byte, kind uint64) uint64 {
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) == kind {
			return binary.LittleEndian.Uint64(auxv[8:])
		}
	}
	return 0
}
