package srtcore

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/loop"
)

// Message is a received message in the library's own memory: it saves the copy
// that Read makes. It is lent by ReceiveBatch or TryReceiveBatch and goes back
// with Release.
type Message struct{ m engine.Message }

// Payload returns the content, which is valid until Release. It may be changed,
// not appended to; it is empty after Release.
func (m *Message) Payload() []byte {
	if m.m.Buf == nil {
		return nil
	}
	return m.m.Buf.Payload()
}

// Info describes the message.
func (m *Message) Info() MessageInfo {
	return MessageInfo{Source: loop.Wall(m.m.Source), Seq: uint32(m.m.Seq)}
}

// Age returns how long before at the peer's application handed the message in, on
// this side's clock: Info without a look at the clock.
func (m *Message) Age(at time.Time) time.Duration { return loop.Since(m.m.Source, at) }

// Seq returns the packet sequence number.
func (m *Message) Seq() uint32 { return uint32(m.m.Seq) }

// lot is how many messages move under one lock.
const lot = 16

// ReceiveBatch lends up to len(dst) messages, and waits for the first only. The
// errors are those of Read.
func (c *Conn) ReceiveBatch(dst []Message) (n int, err error) {
	if len(dst) == 0 {
		return 0, nil
	}
	for {
		if c.readDeadline.passed.Load() {
			return 0, ErrTimeout
		}
		n, err = c.lend(dst)
		if err != loop.ErrAgain {
			return n, readError(err)
		}
		c.waitRead()
	}
}

// TryReceiveBatch is like ReceiveBatch but never waits: 0 and no error mean that
// there is nothing yet.
func (c *Conn) TryReceiveBatch(dst []Message) (n int, err error) {
	if len(dst) == 0 {
		return 0, nil
	}
	n, err = c.lend(dst)
	if err == loop.ErrAgain {
		return 0, nil
	}
	return n, readError(err)
}

func (c *Conn) lend(dst []Message) (n int, err error) {
	var ms [lot]engine.Message
	for n < len(dst) {
		k, err := c.lc.Lend(ms[:min(lot, len(dst)-n)])
		for i := range k {
			dst[n+i].m = ms[i]
		}
		n += k
		if err != nil && n == 0 {
			return 0, err
		}
		if err != nil || k < lot {
			break
		}
	}
	return n, nil
}

// Release gives messages of c back and empties them; those that are empty
// already are left alone. Messages that are never given back are left to the
// garbage collector. It may follow the end of the connection.
func (c *Conn) Release(ms []Message) {
	var bufs [lot]*dgram.Buf
	n := 0
	for i := range ms {
		if ms[i].m.Buf == nil {
			continue
		}
		bufs[n] = ms[i].m.Buf
		ms[i].m.Buf = nil
		if n++; n == lot {
			c.lc.TakeBack(bufs[:n])
			n = 0
		}
	}
	c.lc.TakeBack(bufs[:n])
}
