package loop

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

// epollPoller waits in an epoll of its own that is itself an entry of the
// runtime's network poller, so that a waiting loop holds neither a thread nor a
// P. The outer epoll holds a timerfd (25 us late where the runtime's timers are
// up to a millisecond late), an eventfd and the inner epoll; the inner one
// holds the sockets, and one epoll_ctl takes them all out of a tick's wait.
//
// Every call here is a RawSyscall: none of them blocks, and an ordinary Syscall
// would wake the runtime's sleeping monitor thread each time.
type epollPoller struct {
	outer, inner   int
	timer, event   int
	file           *os.File // owns outer
	conn           syscall.RawConn
	sockets        bool      // the inner epoll counts in the outer
	armed          mono.Time // what the timer is set to; unarmed if unknown
	offset         int64     // CLOCK_MONOTONIC less Now
	spec           unix.ItimerSpec
	events         [1]unix.EpollEvent
	counter        [8]byte
	check          func(uintptr) bool
	until, now     mono.Time // of the wait in progress
	idle, signaled bool
}

const unarmed mono.Time = -1

func newPoller(portable bool) (poller, error) {
	if portable {
		return newPortablePoller(), nil
	}
	return newEpollPoller()
}

func newEpollPoller() (_ *epollPoller, err error) {
	p := &epollPoller{outer: -1, inner: -1, timer: -1, event: -1, armed: mono.Never}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if err = p.open(); err != nil {
		return nil, err
	}
	p.file = os.NewFile(uintptr(p.outer), "srt loop")
	if p.conn, err = p.file.SyscallConn(); err != nil {
		return nil, err
	}
	p.check = p.over
	p.offset = clockOffset()
	if err = p.try(); err != nil {
		return nil, fmt.Errorf("epoll in the runtime's network poller: %w", err)
	}
	return p, nil
}

// try waits once, so that a runtime that cannot wait for an epoll says so now.
func (p *epollPoller) try() error {
	p.until, p.signaled = Now().Add(tryFor), false
	p.arm(p.until)
	defer func() { p.armed = unarmed }()
	return p.conn.Read(p.check)
}

const tryFor = 200 * time.Microsecond

func (p *epollPoller) open() (err error) {
	if p.outer, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll_create1: %w", err)
	}
	if err = unix.SetNonblock(p.outer, true); err != nil {
		return fmt.Errorf("set non-blocking: %w", err)
	}
	if p.inner, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("epoll_create1: %w", err)
	}
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return fmt.Errorf("timerfd_create: %w", err)
	}
	if p.event, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	for _, fd := range []int{p.timer, p.event} {
		if err = ctl(p.outer, unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN); err != nil {
			return err
		}
	}
	return ctl(p.outer, unix.EPOLL_CTL_ADD, p.inner, 0)
}

func ctl(ep, op, fd int, events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(fd)}
	_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(ep), uintptr(op), uintptr(fd),
		uintptr(unsafe.Pointer(&ev)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("epoll_ctl: %w", errno)
	}
	return nil
}

// clockOffset measures the distance between the system's monotonic clock and
// Now; of several tries the one least disturbed counts.
func clockOffset() int64 {
	best, offset := int64(1<<62), int64(0)
	for range 16 {
		var ts unix.Timespec
		before := Now()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			continue
		}
		after := Now()
		if took := int64(after - before); took < best {
			best, offset = took, ts.Nano()-int64(before+after)/2
		}
	}
	return offset
}

func (p *epollPoller) add(s *udp.Socket) error {
	return ctl(p.inner, unix.EPOLL_CTL_ADD, s.FD(), unix.EPOLLIN)
}

func (p *epollPoller) remove(s *udp.Socket) {
	_ = ctl(p.inner, unix.EPOLL_CTL_DEL, s.FD(), 0) // closing it does the same
}

func (p *epollPoller) waitTick(until mono.Time) mono.Time {
	p.listen(false)
	return p.wait(until, false)
}

func (p *epollPoller) waitIdle(until mono.Time) mono.Time {
	p.listen(true)
	now := p.wait(until, true)
	p.quiet()
	return now
}

// listen lets the sockets' readability reach the outer epoll, or not.
func (p *epollPoller) listen(on bool) {
	if p.sockets == on {
		return
	}
	var events uint32
	if on {
		events = unix.EPOLLIN
	}
	if ctl(p.outer, unix.EPOLL_CTL_MOD, p.inner, events) == nil {
		p.sockets = on
	}
}

func (p *epollPoller) wait(until mono.Time, idle bool) mono.Time {
	p.arm(until)
	p.until, p.idle, p.signaled = until, idle, false
	if err := p.conn.Read(p.check); err != nil {
		p.now = Now()
	}
	if p.signaled || p.now >= p.armed {
		p.armed = unarmed
	}
	return p.now
}

// over is asked by RawConn.Read after it has reset the runtime's entry: that
// order closes the race with an edge that came before. The second time it is
// asked there was an edge, so whatever it was for, the wait is over.
func (p *epollPoller) over(uintptr) bool {
	p.now = Now()
	if p.signaled || p.now >= p.until {
		return true
	}
	p.signaled = true
	return p.idle && p.pending()
}

// pending asks the outer epoll, without blocking.
func (p *epollPoller) pending() bool {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.outer),
		uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), 0, 0, 0)
	return errno == 0 && n > 0
}

// arm sets the timer, which also takes back that it had run out.
func (p *epollPoller) arm(until mono.Time) {
	if p.armed == until {
		return
	}
	p.spec.Value = unix.Timespec{}
	if until != mono.Never {
		p.spec.Value = unix.NsecToTimespec(int64(until) + p.offset)
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(p.timer), unix.TFD_TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&p.spec)), 0, 0, 0)
	p.armed = until
	if errno != 0 {
		p.armed = unarmed
	}
}

// quiet takes back what wake did.
func (p *epollPoller) quiet() {
	_, _, _ = unix.RawSyscall(unix.SYS_READ, uintptr(p.event), uintptr(unsafe.Pointer(&p.counter)), 8)
}

func (p *epollPoller) wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _, _ = unix.RawSyscall(unix.SYS_WRITE, uintptr(p.event), uintptr(unsafe.Pointer(&one)), 8)
}

func (p *epollPoller) close() {
	if p.file != nil {
		_ = p.file.Close()
		p.outer = -1
	}
	for _, fd := range []int{p.outer, p.inner, p.timer, p.event} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
