package loop

import (
	"sync"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// mailbox is how other goroutines reach a loop: commands, messages to be sent,
// and connections with room in their inbox. It wakes the loop once a sleep: at
// once when the loop sleeps idly; when it ticks, for a writer that comes once
// messages are to be collected. That writer is awake anyway, and the loop runs on
// its thread as soon as it waits, while a timer of the loop's own would wake the
// CPU once more.
type mailbox struct {
	wake func()

	mu        sync.Mutex
	mail      mail
	pumped    bool // a portable socket has datagrams
	sleeping  bool
	collectAt mono.Time // when a writer may wake a ticking loop; 0: it does not tick
	closed    bool
}

// mail is what a loop collects.
type mail struct {
	commands []func()
	parcels  []parcel
	ready    []*Conn // whose inbox has room again
}

// keptParcels is the room that an emptied mail keeps: that of a peak goes back.
const keptParcels = 4096

// reset empties the mail once it has been seen to.
func (x *mail) reset() {
	clear(x.commands)
	clear(x.parcels)
	clear(x.ready)
	x.commands, x.parcels, x.ready = x.commands[:0], x.parcels[:0], x.ready[:0]
	if cap(x.parcels) > keptParcels {
		x.parcels = nil
	}
}

func (x *mail) empty() bool {
	return len(x.commands) == 0 && len(x.parcels) == 0 && len(x.ready) == 0
}

// post hands f to the loop; false: the loop is closed and f will not run.
func (m *mailbox) post(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.mail.commands = append(m.mail.commands, f)
	m.stir()
	return true
}

// put takes messages of one connection, written at an instant, as many as its
// outbox allows; errAgain: none. The Bufs of the others stay with the caller.
func (m *mailbox) put(c *Conn, bufs []*dgram.Buf, at mono.Time) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.out.over.Load() {
		return 0, c.out.end
	}
	n = min(len(bufs), c.out.room())
	if n <= 0 {
		return 0, errAgain
	}
	for _, b := range bufs[:n] {
		m.mail.parcels = append(m.mail.parcels, parcel{c, b, at})
	}
	c.out.queued.Add(int32(n))
	if m.collectAt != 0 && at >= m.collectAt {
		m.stir()
	} else {
		m.rouse()
	}
	return n, nil
}

// finish refuses what is written to c from now on; the first reason stays. What
// was put before is collected no later than any later command.
func (m *mailbox) finish(c *Conn, err error) {
	m.mu.Lock()
	if !c.out.over.Load() {
		c.out.end = err
		c.out.over.Store(true)
	}
	m.mu.Unlock()
	c.out.wake()
}

// announce says that c's inbox has room again.
func (m *mailbox) announce(c *Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.mail.ready = append(m.mail.ready, c)
	m.rouse()
}

// pump says that a portable socket has read something.
func (m *mailbox) pump() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.pumped = true
	m.rouse()
}

// stir wakes a ticking loop as well. The lock is held.
func (m *mailbox) stir() {
	if m.collectAt != 0 {
		m.collectAt = 0
		m.wake()
	}
	m.rouse()
}

// rouse wakes a sleeping loop. The lock is held, so that the poller cannot be
// closed meanwhile.
func (m *mailbox) rouse() {
	if m.sleeping {
		m.sleeping = false
		m.wake()
	}
}

// tick announces that the loop is about to wait for a tick, and that a writer
// may end the wait from then on.
func (m *mailbox) tick(collect mono.Time) {
	m.mu.Lock()
	m.collectAt = collect
	m.mu.Unlock()
}

// sleep announces that the loop is about to wait idly; false: there is mail.
func (m *mailbox) sleep() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sleeping = m.mail.empty() && !m.pumped
	return m.sleeping
}

// collect takes the mail in exchange for an empty one.
func (m *mailbox) collect(x *mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sleeping, m.pumped, m.collectAt = false, false, 0
	m.mail, *x = *x, m.mail
}

// close takes the last mail and refuses any more; messages are still taken, and
// lost with their connections.
func (m *mailbox) close(x *mail) {
	m.collect(x)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	x.commands = append(x.commands, m.mail.commands...)
	x.ready = append(x.ready, m.mail.ready...)
	x.parcels = append(x.parcels, m.mail.parcels...)
	m.mail = mail{}
}
