package loop

import "github.com/weirline/weirline/srtcore/wire"

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
