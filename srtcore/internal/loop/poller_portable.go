package loop

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

// portablePoller waits with the runtime's own timer and a channel; each socket
// has a goroutine that reads into the socket's queue (udp.Socket.Pump) and
// wakes the loop. Timers of the runtime are good to about a millisecond.
type portablePoller struct {
	timer *time.Timer
	woken chan struct{}
}

func newPortablePoller() *portablePoller {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &portablePoller{timer: t, woken: make(chan struct{}, 1)}
}

func (p *portablePoller) add(*udp.Socket) error { return nil }
func (p *portablePoller) remove(*udp.Socket)    {}
func (p *portablePoller) close()                { p.timer.Stop() }

func (p *portablePoller) waitTick(until mono.Time) mono.Time { return p.waitIdle(until) }

func (p *portablePoller) waitIdle(until mono.Time) mono.Time {
	if until == mono.Never {
		<-p.woken
		return Now()
	}
	p.timer.Reset(until.Sub(Now()))
	select {
	case <-p.timer.C:
	case <-p.woken:
		p.timer.Stop()
	}
	return Now()
}

func (p *portablePoller) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}
