package loop

import "sync"

// mailbox is how other goroutines reach a loop: commands, and connections that
// have something in their outbox or room in their inbox. It wakes the loop once
// a sleep, and only when the loop sleeps without a tick.
type mailbox struct {
	wake func()

	mu       sync.Mutex
	commands []func()
	ready    []*Conn
	pumped   bool // a portable socket has datagrams
	sleeping bool
	closed   bool
}

// post hands f to the loop; false: the loop is closed and f will not run.
func (m *mailbox) post(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.commands = append(m.commands, f)
	m.rouse()
	return true
}

// announce says that c's outbox or inbox wants attention.
func (m *mailbox) announce(c *Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.ready = append(m.ready, c)
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
	m.sleeping, m.pumped = false, false
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
