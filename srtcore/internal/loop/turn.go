package loop

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// drainRounds bounds the rounds of one turn; what is left comes after the
// sockets have been read again.
const drainRounds = 4

// turn does everything that is to do at l.now and reports whether work is left.
func (l *Loop) turn() (more bool) {
	l.commands, l.ready = l.mail.collect(l.commands[:0], l.ready[:0])
	more = l.readSockets()
	l.runCommands()
	l.takeAnnounced()
	l.expire()
	if l.greeted || len(l.commands) > 0 {
		// A handshake about to be sent carries the time base of its connection,
		// and what came before may have taken milliseconds: the first one in a
		// process runs through cold code, a listener asks its callback.
		l.greeted, l.now = false, Now()
	}
	more = l.drain() || more
	l.pace.adapt()
	l.notify()
	return more
}

// readSockets gives each socket a bounded turn, a different one first each time.
func (l *Loop) readSockets() (more bool) {
	l.turns++
	for i := range l.sockets {
		s := l.sockets[(i+l.turns)%len(l.sockets)]
		more = l.readSocket(s) || more
	}
	return more
}

func (l *Loop) readSocket(s *socket) (more bool) {
	for taken := 0; taken < turnLimit; {
		n, again, err := s.udp.ReadBatch(l.cache, l.in)
		for i := range l.in[:n] {
			l.handle(s, i)
		}
		taken += n
		if err != nil || n == 0 || !again {
			return false
		}
	}
	return true
}

// handle passes datagram i of the batch to the engine.
func (l *Loop) handle(s *socket, i int) {
	d := &l.in[i]
	if l.lastTraffic != l.now && isTraffic(d.Buf.Bytes()) {
		l.traffic()
	}
	d.Lag = 0
	if kind, ok := tellsTime(d.Buf.Bytes()); ok {
		l.greeted = l.greeted || kind == wire.CtrlHandshake
		if d.At != 0 {
			d.Lag = int64(l.lag(d.At))
		}
	}
	if c := s.ep.HandleDatagram(l.now, *d); c != nil {
		if own, ok := c.User.(*Conn); ok {
			own.touch()
			return
		}
	}
	s.stirred = true
}

// isTraffic tells the packets that come all the time while media flows from
// those of connections at rest.
func isTraffic(b []byte) bool {
	if len(b) < wire.HeaderSize {
		return false
	}
	if !wire.IsControl(b) {
		return true
	}
	h, _, err := wire.ParseControl(b)
	return err == nil && (h.Type == wire.CtrlACK || h.Type == wire.CtrlACKACK || h.Type == wire.CtrlNAK)
}

// tellsTime picks the packets whose arrival is measured: the time base of a
// connection comes from a handshake, round-trip times and the clocks' drift from
// ACKACKs (draft sections 4.5, 4.7 and 4.10). A loop may find them milliseconds
// after they came.
func tellsTime(b []byte) (kind wire.ControlType, ok bool) {
	if len(b) < wire.HeaderSize || !wire.IsControl(b) {
		return 0, false
	}
	h, _, err := wire.ParseControl(b)
	return h.Type, err == nil && (h.Type == wire.CtrlHandshake || h.Type == wire.CtrlACKACK)
}

// mostLag bounds what is believed: more is a system clock that was set.
const mostLag = 100 * time.Millisecond

// lag is how long before l.now the system's clock showed at.
func (l *Loop) lag(at int64) time.Duration {
	wall := time.Now()
	lag := l.now.Sub(mono.Time(wall.Sub(origin))) + time.Duration(wall.UnixNano()-at)
	if lag > mostLag {
		return 0
	}
	return max(lag, 0)
}

func (l *Loop) runCommands() {
	for i, f := range l.commands {
		f()
		l.commands[i] = nil
	}
}

// takeAnnounced serves the connections that asked for attention.
func (l *Loop) takeAnnounced() {
	for i, c := range l.ready {
		c.collect()
		l.ready[i] = nil
	}
}

// expire tells whom it concerns that time has passed.
func (l *Loop) expire() {
	for _, e := range l.due.expired(l.now) {
		if e.conn != nil {
			e.conn.expire()
			continue
		}
		e.sock.expire()
	}
}

// drain takes the output of all connections that were touched, in rounds, so
// that none of them keeps the others waiting.
func (l *Loop) drain() (more bool) {
	for range drainRounds {
		more = false
		for i := range l.sockets {
			s := l.sockets[(i+l.turns)%len(l.sockets)]
			more = s.drain() || more
		}
		if !more {
			break
		}
	}
	l.closeUnused()
	return more
}

// notify wakes the readers, once, now that all is done.
func (l *Loop) notify() {
	for i, c := range l.wakes {
		c.in.wake()
		l.wakes[i] = nil
	}
	l.wakes = l.wakes[:0]
	for i, r := range l.marked {
		r.flush()
		l.marked[i] = nil
	}
	l.marked = l.marked[:0]
}
