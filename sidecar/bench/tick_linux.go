package bench

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ticker wakes its goroutine at a fixed grid. The runtime's timers are a
// millisecond coarse on Linux; a timerfd in the runtime's poller is not, and
// costs no system call a tick: being edge-triggered there, it need not be read.
type ticker struct {
	f    *os.File
	conn syscall.RawConn
}

func newTicker(period time.Duration) (*ticker, error) {
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
	each := unix.NsecToTimespec(int64(period))
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: each, Value: each}, nil); err != nil {
		f.Close()
		return nil, err
	}
	return &ticker{f, conn}, nil
}

// wait returns at the first tick at or after the monotonic time until.
func (t *ticker) wait(until int64) {
	t.conn.Read(func(uintptr) bool { return now() >= until })
}

func (t *ticker) stop() { t.f.Close() }
