package inflow

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell wakes the one goroutine that waits for it. A channel would do as well,
// but making a goroutine runnable through one also wakes a second thread to look
// for work. An eventfd in the runtime's poller is found by the thread that rang
// it, on its way to sleep.
type bell struct {
	fd    int
	file  *os.File
	conn  syscall.RawConn
	rung  atomic.Bool
	check func(uintptr) bool
}

func newBell() (*bell, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	b := &bell{fd: fd, file: os.NewFile(uintptr(fd), "inflow bell")}
	b.check = func(uintptr) bool { return b.rung.Swap(false) }
	if b.conn, err = b.file.SyscallConn(); err != nil {
		b.file.Close()
		return nil, err
	}
	return b, nil
}

// ring ends a wait, or the next one. The counter is never read: each write is
// an edge, and the poller wants no more.
func (b *bell) ring() {
	b.rung.Store(true)
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	unix.RawSyscall(unix.SYS_WRITE, uintptr(b.fd), uintptr(unsafe.Pointer(&one)), 8)
}

// wait returns at once when the bell is closed.
func (b *bell) wait() { _ = b.conn.Read(b.check) }

func (b *bell) close() { b.file.Close() }
