package loop

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// eventBell is an eventfd that the waiting goroutine sleeps on in the runtime's
// network poller. A channel would do as well, but whoever makes a goroutine
// runnable through one also wakes a second thread to look for work: twice the
// context switches, and often the goroutine moves to another CPU than the one
// whose cache holds the messages. Rung just before its loop goes to sleep, this
// bell is found by the same thread on its way.
type eventBell struct {
	fd    int
	file  *os.File
	conn  syscall.RawConn
	rung  atomic.Bool
	check func(uintptr) bool
}

// newBell returns a chanBell where there is no descriptor to be had.
func newBell() bell {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return newChanBell()
	}
	b := &eventBell{fd: fd, file: os.NewFile(uintptr(fd), "srt bell")}
	b.check = func(uintptr) bool { return b.rung.Swap(false) }
	if b.conn, err = b.file.SyscallConn(); err != nil {
		_ = b.file.Close()
		return newChanBell()
	}
	return b
}

// ring adds to the counter, which nobody reads: every write is an edge, and the
// runtime's poller wants no more.
func (b *eventBell) ring() {
	b.rung.Store(true)
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _, _ = unix.RawSyscall(unix.SYS_WRITE, uintptr(b.fd), uintptr(unsafe.Pointer(&one)), 8)
}

// wait's error is that of a closed file, which has no waiter.
func (b *eventBell) wait() { _ = b.conn.Read(b.check) }

func (b *eventBell) close() { _ = b.file.Close() }
