package loop

import (
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

// poller is how a loop waits. There are two: poller_linux.go and
// poller_portable.go.
type poller interface {
	// add lets idle waits end when s becomes readable.
	add(s *udp.Socket) error
	remove(s *udp.Socket)
	// waitTick returns at until or after wake.
	waitTick(until mono.Time) mono.Time
	// waitIdle returns at until (Never: no such instant), when a socket is
	// readable, or after wake.
	waitIdle(until mono.Time) mono.Time
	// wake ends a wait. Any goroutine may call it before close.
	wake()
	close()
}
