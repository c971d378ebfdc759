package daemon

import (
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/control"
)

// keptEvents bounds what is remembered.
const keptEvents = 1000

// events are the last keptEvents of them, numbered from 1.
type events struct {
	mu   sync.Mutex
	kept []control.Event // a ring once it is full
	next uint64          // number of the next
	more chan struct{}   // closed by the next
}

func (e *events) init() { e.next, e.more = 1, make(chan struct{}) }

func (e *events) add(ev control.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.Number, ev.Time = e.next, time.Now()
	if len(e.kept) < keptEvents {
		e.kept = append(e.kept, ev)
	} else {
		e.kept[(e.next-1)%keptEvents] = ev
	}
	e.next++
	close(e.more)
	e.more = make(chan struct{})
}

func (e *events) since(n uint64) ([]control.Event, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := max(n+1, e.next-uint64(len(e.kept)))
	var all []control.Event
	for i := first; i < e.next; i++ {
		all = append(all, e.kept[(i-1)%keptEvents])
	}
	return all, e.more
}

// Events implements control.Daemon.
func (d *Daemon) Events(since uint64) ([]control.Event, <-chan struct{}) {
	return d.events.since(since)
}

func (d *Daemon) event(e control.Event) { d.events.add(e) }
