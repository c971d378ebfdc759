package bench

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ticker waits for instants of the monotonic clock. The runtime's timers are a
// millisecond coarse on Linux; a timerfd in the runtime's poller is not. It is
// set anew for each instant, which also takes back that it had run out, so it
// need not be read.
type ticker struct {
	f    *os.File
	fd   int
	conn syscall.RawConn
}

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
	return &ticker{f, fd, conn}, nil
}

// wait returns at the monotonic time until.
func (t *ticker) wait(until int64) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(until)}
	if unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil) != nil {
		return
	}
	t.conn.Read(func(uintptr) bool { return now() >= until })
}

func (t *ticker) stop() { t.f.Close() }
