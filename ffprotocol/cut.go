package ffprotocol

const (
	tsPacket = 188
	tsSync   = 0x47
)

// cutter cuts a byte stream into messages. Of MPEG-TS each message holds whole
// packets; anything else is cut at the limit.
type cutter struct {
	seen bool   // the stream has begun
	ts   bool   // it is MPEG-TS
	held []byte // the beginning of a TS packet
	join []byte // a message made of held and what followed
}

// cut appends the messages of p to out. They point into p and into the cutter,
// and are valid until the next call.
func (c *cutter) cut(limit int, p []byte, out [][]byte) [][]byte {
	if len(p) == 0 {
		return out
	}
	c.look(limit, p)
	size := limit
	if c.ts {
		size = limit / tsPacket * tsPacket
	}
	if len(c.held) > 0 {
		n := min(size-len(c.held), len(p))
		c.join = append(append(c.join[:0], c.held...), p[:n]...)
		c.held = c.held[:0]
		p = p[n:]
		if len(p) == 0 {
			return c.tail(c.join, out)
		}
		out = append(out, c.join)
	}
	for len(p) >= size {
		out = append(out, p[:size])
		p = p[size:]
	}
	return c.tail(p, out)
}

// tail is the last, shorter message; the packet that is not whole is held back.
func (c *cutter) tail(p []byte, out [][]byte) [][]byte {
	whole := len(p)
	if c.ts {
		whole -= whole % tsPacket
	}
	c.held = append(c.held[:0], p[whole:]...)
	if whole > 0 {
		out = append(out, p[:whole])
	}
	return out
}

// look decides whether the stream is MPEG-TS: it begins like that, and goes on
// like that. Once it does not, it is not, and nothing is held back any more.
func (c *cutter) look(limit int, p []byte) {
	next := 0 // where a packet begins in p
	if len(c.held) > 0 {
		next = tsPacket - len(c.held)
	}
	if !c.seen {
		c.seen, c.ts = true, limit >= tsPacket
	}
	for ; c.ts && next < len(p); next += tsPacket {
		c.ts = p[next] == tsSync
	}
}

// rest returns what was held back, which nothing will complete.
func (c *cutter) rest(out [][]byte) [][]byte {
	if len(c.held) == 0 {
		return out
	}
	c.join = append(c.join[:0], c.held...)
	c.held = c.held[:0]
	return append(out, c.join)
}
