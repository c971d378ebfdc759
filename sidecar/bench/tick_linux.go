package bench

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ticker wakes its goroutine at given instants. The runtime's timers are a
// millisecond coarse on Linux; a timerfd in the runtime's poller is not. Being
// edge-triggered there it is never read, only set anew.
type ticker struct {
	f    *os.File
	conn syscall.RawConn
	fd   uintptr
	spec unix.ItimerSpec
}

// early is how much too early a wake-up may be and still count: reading the
// clock must not lose the only wake-up there is.
const early = 2000 // ns

func newTicker() (*ticker, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "timerfd")
	conn, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &ticker{f: f, conn: conn, fd: uintptr(fd)}, nil
}

// wait returns at the monotonic time until. The raw system call does not wake
// the runtime's monitor thread, which at a thousand a second would cost more
// than the sending.
func (t *ticker) wait(until int64) {
	t.spec.Value = unix.NsecToTimespec(until)
	unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, t.fd, unix.TFD_TIMER_ABSTIME, uintptr(unsafe.Pointer(&t.spec)), 0, 0, 0)
	t.conn.Read(func(uintptr) bool { return now() >= until-early })
}

func (t *ticker) stop() { t.f.Close() }
