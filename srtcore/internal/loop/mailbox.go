package loop

import (
	"sync"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// mailbox is how other goroutines reach a loop: commands, and connections that
// have something in their outbox or room in their inbox. It wakes the loop once
// a sleep: at once when the loop sleeps idly; when it ticks, for a writer that
// comes once its outboxes are to be collected. That writer is awake anyway, and
// the loop runs on its thread as soon as it waits, while a timer of the loop's
// own would wake the CPU once more.
type mailbox struct {
	wake func()

	mu        sync.Mutex
	commands  []func()
	ready     []*Conn
	pumped    bool // a portable socket has datagrams
	sleeping  bool
	collectAt mono.Time // when a writer may wake a ticking loop; 0: it does not tick
	closed    bool
}

// post hands f to the loop; false: the loop is closed and f will not run.
func (m *mailbox) post(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.commands = append(m.commands, f)
	m.stir()
	return true
}

// announce says that c's outbox, written at some instant, wants attention, or at
// once (Never) its inbox: messages are overdue that had no room there.
func (m *mailbox) announce(c *Conn, at mono.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.ready = append(m.ready, c)
	if m.collectAt != 0 && at >= m.collectAt {
		m.stir()
		return
	}
	m.rouse()
}

// nudge wakes a ticking loop: a writer waits for it.
func (m *mailbox) nudge() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.stir()
	}
}

// stir wakes a ticking loop as well. The lock is held.
func (m *mailbox) stir() {
	if m.collectAt != 0 {
		m.collectAt = 0
		m.wake()
	}
	m.rouse()
}

// tick announces that the loop is about to wait for a tick, and that a writer
// may end the wait from then on.
func (m *mailbox) tick(collect mono.Time) {
	m.mu.Lock()
	m.collectAt = collect
	m.mu.Unlock()
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

// rouse wakes a sleeping loop. The lock is held, so that the poller cannot be
// closed meanwhile.
func (m *mailbox) rouse() {
	if m.sleeping {
		m.sleeping = false
		m.wake()
	}
}

// sleep announces that the loop is about to wait idly; false: there is mail.
func (m *mailbox) sleep() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sleeping = len(m.commands) == 0 && len(m.ready) == 0 && !m.pumped
	return m.sleeping
}

// collect takes the mail in exchange for two empty slices.
func (m *mailbox) collect(commands []func(), ready []*Conn) ([]func(), []*Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sleeping, m.pumped, m.collectAt = false, false, 0
	if len(m.commands) > 0 {
		m.commands, commands = commands, m.commands
	}
	if len(m.ready) > 0 {
		m.ready, ready = ready, m.ready
	}
	return commands, ready
}

// close takes the last mail and refuses any more.
func (m *mailbox) close(commands []func(), ready []*Conn) ([]func(), []*Conn) {
	commands, ready = m.collect(commands, ready)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return append(commands, m.commands...), append(ready, m.ready...)
}
