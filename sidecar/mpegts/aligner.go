package mpegts

import "bytes"

const (
	roomSize = 64 << 10 // bytes read at once at most
	// confirm is how many consecutive sync bytes make a stream a transport
	// stream; one alone is an ordinary byte of any other data.
	confirm = 3
)

// Aligner cuts bytes into messages and loses none: what is not a transport
// stream is cut by size alone. Its user reads into Space, says how much with
// Commit, takes messages with Next until nil; after a quiet moment it calls
// Hold, and at the end Drain. It holds no clock; the quiet moment is its
// user's business.
type Aligner struct {
	size int // bytes of a message of other data
	cut  int // bytes of a message of whole packets; 0: too small for one

	buf        []byte
	start, end int  // what is held: buf[start:end]
	synced     bool // buf[start] begins a packet, and several before it did
	held       bool // Hold was called since the last Commit
}

// NewAligner returns an Aligner for messages of at most size bytes.
func NewAligner(size int) *Aligner {
	if size <= 0 {
		size = DefaultMessageSize
	}
	return &Aligner{size: size, cut: size / PacketSize * PacketSize, buf: make([]byte, roomSize+size)}
}

// Space returns room to read into. It is never empty once Next has returned
// nil, and it invalidates all messages returned before.
func (a *Aligner) Space() []byte {
	if a.start > 0 {
		a.end = copy(a.buf, a.buf[a.start:a.end])
		a.start = 0
	}
	return a.buf[a.end:]
}

// Commit says that n bytes were read into Space.
func (a *Aligner) Commit(n int) {
	a.end += n
	a.held = false
}

// Pending is the number of bytes held back.
func (a *Aligner) Pending() int { return a.end - a.start }

// Next returns the next full message, or nil. The message is valid until the
// next call of Space.
func (a *Aligner) Next() []byte {
	for {
		if a.synced {
			m, again := a.nextPackets()
			if !again {
				return m
			}
			continue
		}
		m, again := a.nextOther()
		if !again {
			return m
		}
	}
}

// nextPackets cuts where sync holds. again is true when sync was lost at once.
func (a *Aligner) nextPackets() (m []byte, again bool) {
	if a.Pending() < a.cut {
		return nil, false
	}
	n := a.packets(a.cut)
	if n == 0 {
		a.synced = false
		return nil, true
	}
	return a.take(n), false
}

// nextOther looks for sync and cuts by size whatever lies before it.
func (a *Aligner) nextOther() (m []byte, again bool) {
	held := a.buf[a.start:a.end]
	at, sure := a.findSync(held)
	switch {
	case sure && at == 0:
		a.synced = true
		return nil, true
	case sure && at < a.size:
		return a.take(at), false // so that the next message begins with a packet
	case len(held) < a.size:
		return nil, false
	case !sure && at == 0 && len(held) < a.size+confirm*PacketSize:
		return nil, false // may be a stream; a few more bytes will tell
	case at > 0 && at < a.size:
		return a.take(at), false
	}
	return a.take(a.size), false
}

// findSync returns the first place that may begin a packet, or len(b), and
// whether enough packets follow to be sure.
func (a *Aligner) findSync(b []byte) (at int, sure bool) {
	if a.cut == 0 {
		return len(b), false
	}
	for at < len(b) {
		i := bytes.IndexByte(b[at:], syncByte)
		if i < 0 {
			return len(b), false
		}
		at += i
		tail := b[at:]
		if len(tail) > confirm*PacketSize {
			tail = tail[:confirm*PacketSize]
		}
		if inSync(tail) {
			return at, len(tail) > (confirm-1)*PacketSize
		}
		at++
	}
	return len(b), false
}

// packets returns how many of the next limit bytes are whole packets in sync.
func (a *Aligner) packets(limit int) int {
	n := 0
	for n+PacketSize <= limit && a.start+n+PacketSize <= a.end && a.buf[a.start+n] == syncByte {
		n += PacketSize
	}
	return n
}

// Hold returns what need not wait any longer although the message is not full,
// or nil. Of a transport stream that is the whole packets; the rest of a cut
// packet stays. Other data waits for one further Hold if it may yet turn out
// to be a packet.
func (a *Aligner) Hold() []byte {
	if a.Pending() == 0 {
		return nil
	}
	if n := a.packets(a.cut); n > 0 {
		return a.take(n)
	}
	if a.synced {
		return nil
	}
	if !a.held && a.buf[a.start] == syncByte {
		a.held = true
		return nil
	}
	return a.take(min(a.Pending(), a.size))
}

// Drain returns the rest, message by message, then nil.
func (a *Aligner) Drain() []byte {
	if m := a.Next(); m != nil {
		return m
	}
	if a.Pending() == 0 {
		return nil
	}
	if n := a.packets(a.cut); n > 0 {
		return a.take(n)
	}
	return a.take(min(a.Pending(), a.size))
}

func (a *Aligner) take(n int) []byte {
	m := a.buf[a.start : a.start+n : a.start+n]
	a.start += n
	return m
}
