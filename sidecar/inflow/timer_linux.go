package inflow

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// timer wakes one goroutine at given instants: a timerfd in the runtime's
// poller, since the runtime's own timers are a millisecond late. It is set by a
// raw system call and never read; being edge-triggered there, it need not be.
type timer struct {
	file  *os.File
	conn  syscall.RawConn
	fd    int
	spec  unix.ItimerSpec
	until time.Time
	now   time.Time
	check func(uintptr) bool
}

func newTimer() (*timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	t := &timer{file: os.NewFile(uintptr(fd), "inflow tick"), fd: fd}
	t.check = func(uintptr) bool {
		t.now = time.Now()
		return !t.now.Before(t.until)
	}
	if t.conn, err = t.file.SyscallConn(); err != nil {
		t.file.Close()
		return nil, err
	}
	return t, nil
}

// wait returns the time once it is until.
func (t *timer) wait(until time.Time) time.Time {
	t.until = until
	t.spec.Value = unix.NsecToTimespec(int64(max(1, time.Until(until))))
	unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(t.fd), 0, uintptr(unsafe.Pointer(&t.spec)), 0, 0, 0)
	if t.conn.Read(t.check) != nil {
		t.now = time.Now()
	}
	return t.now
}

func (t *timer) close() { t.file.Close() }
