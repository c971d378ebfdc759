package udp

import (
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	waitFD = func(fd int, atMost time.Duration) {
		unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(atMost.Milliseconds()))
	}
}
