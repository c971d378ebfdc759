package mpegts

import "bytes"

// hunt finds packets in messages that may be cut anywhere, and gives up on what
// has none.
type hunt struct {
	lost   bool   // looking for sync
	losses uint64 // times it was lost
	stray  uint64 // bytes outside packets
	since  int    // stray bytes since the last packet
	again  int    // whole messages in sync, after having given up

	carry [PacketSize]byte // the first part of a packet that the next message ends
	have  int

	// What is looked for may lie across messages that are shorter than enough
	// packets to be sure: held is the part of pool that is not judged yet.
	pool [2 * confirm * PacketSize]byte
	held int
}

const (
	// giveUpAfter is how many bytes without a packet are no transport stream.
	giveUpAfter = 64 << 10
	// comeBackAfter is how many messages of whole packets are one after all.
	comeBackAfter = 3
)

// message cuts one message into packets.
func (h *Health) message(m []byte) {
	u := &h.hunt
	if h.format == NotTS && !h.back(m) {
		return
	}
	if u.have > 0 {
		m = h.endCarried(m)
	}
	for u.held > 0 && len(m) > 0 {
		n := copy(u.pool[u.held:], m)
		m = m[n:]
		n += u.held
		u.held = 0
		h.scan(u.pool[:n], false)
		if h.format == NotTS {
			return
		}
		if u.have > 0 { // found: the rest goes on with the packet that was begun
			m = h.endCarried(m)
		}
	}
	h.scan(m, true)
}

// scan cuts m, a whole message or what is left of several, into packets.
func (h *Health) scan(m []byte, message bool) {
	u := &h.hunt
	whole := len(m)
	for len(m) > 0 {
		if m[0] != syncByte {
			if m = h.lose(m); m == nil {
				return
			}
		}
		if u.lost && !h.regain(m, message && len(m) == whole) {
			if len(m) < confirm*PacketSize && inSync(m) {
				u.held = copy(u.pool[:], m) // more will tell
				return
			}
			m = h.stray(m, 1)
			continue
		}
		if len(m) < PacketSize {
			u.have = copy(u.carry[:], m)
			return
		}
		h.packet(m[:PacketSize])
		m = m[PacketSize:]
	}
}

// back reports whether a stream that was none has become one.
func (h *Health) back(m []byte) bool {
	if !LooksLikeTS(m) {
		h.hunt.again = 0
		return false
	}
	h.hunt.again++
	if h.hunt.again < comeBackAfter {
		return false
	}
	h.format = Unknown
	return true
}

// endCarried completes the packet that the last message began.
func (h *Health) endCarried(m []byte) []byte {
	u := &h.hunt
	n := copy(u.carry[u.have:], m)
	if n < len(m) && m[n] != syncByte && m[0] == syncByte {
		// The rest of the packet was lost on the way, and a new one begins.
		h.strayBytes(u.have)
		u.have = 0
		return m
	}
	if u.have += n; u.have == PacketSize {
		u.have = 0
		h.packet(u.carry[:])
	}
	return m[n:]
}

// lose notes that sync is lost and returns m from its next sync byte on; nil if
// there is none.
func (h *Health) lose(m []byte) []byte {
	if !h.hunt.lost {
		h.hunt.lost = true
		if h.format == TS {
			h.hunt.losses++
		}
	}
	i := bytes.IndexByte(m, syncByte)
	if i < 0 {
		i = len(m)
	}
	return h.stray(m, i)
}

// regain reports whether m, after a loss, begins with packets: so many that it
// is no accident, or a whole message of nothing else.
func (h *Health) regain(m []byte, whole bool) bool {
	if len(m) < confirm*PacketSize && (!whole || len(m)%PacketSize != 0) {
		return false
	}
	if !inSync(m[:min(len(m), confirm*PacketSize)]) {
		return false
	}
	h.hunt.lost, h.hunt.since = false, 0
	h.format = TS
	return true
}

// stray counts the first n bytes of m as such and returns the rest, nil if that
// is nothing or the hunt is over.
func (h *Health) stray(m []byte, n int) []byte {
	h.strayBytes(n)
	if h.format == NotTS || n == len(m) {
		return nil
	}
	return m[n:]
}

func (h *Health) strayBytes(n int) {
	u := &h.hunt
	u.stray += uint64(n)
	if u.since += n; u.since >= giveUpAfter {
		h.format = NotTS
		*u = hunt{losses: u.losses, stray: u.stray, lost: true}
	}
}
