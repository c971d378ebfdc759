package srtcore

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/loop"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// Write sends b as one message. It returns as soon as the message is in the
// sender's queue, and waits for room there. A message longer than MaxPayload is
// refused as a whole, with a *MessageSizeError. An empty one is not sent.
func (c *Conn) Write(b []byte) (int, error) { return c.write(b, 0) }

// WriteMessage is like Write for a message that was made at source, which is
// what its delivery time is counted from; the zero time is now.
func (c *Conn) WriteMessage(b []byte, source time.Time) (int, error) {
	if source.IsZero() {
		return c.write(b, 0)
	}
	return c.write(b, max(loop.Mono(source), c.since))
}

func (c *Conn) write(b []byte, origin mono.Time) (int, error) {
	for {
		if c.writeDeadline.passed.Load() {
			return 0, ErrTimeout
		}
		err := c.tryWrite(b, origin)
		if err == nil {
			return len(b), nil
		}
		if err != ErrAgain {
			return 0, err
		}
		c.waitWrite()
	}
}

// TryWrite is like Write but never waits: ErrAgain means that there is no room
// now.
func (c *Conn) TryWrite(b []byte) error { return c.tryWrite(b, 0) }

func (c *Conn) tryWrite(b []byte, origin mono.Time) error {
	if err := c.checkSize(b); err != nil || len(b) == 0 {
		return err
	}
	if origin == 0 {
		origin = loop.Now()
	}
	return writeError(c.lc.Write(b, origin))
}

// TryWriteBatch sends each b[i] as one message that was made at source, as
// WriteMessage does, but never waits: n of them were taken, and ErrAgain means
// that there was room for none. One that is too long ends the batch with a
// *MessageSizeError; an empty one is taken and not sent.
func (c *Conn) TryWriteBatch(b [][]byte, source time.Time) (n int, err error) {
	origin := loop.Now()
	if !source.IsZero() {
		origin = max(origin.Add(time.Until(source)), c.since)
	}
	for n < len(b) {
		if len(b[n]) == 0 {
			n++
			continue
		}
		run := b[n : n+c.run(b[n:])]
		if len(run) == 0 {
			return n, c.checkSize(b[n])
		}
		took, err := c.lc.WriteBatch(run, origin)
		n += took
		if err == loop.ErrAgain && n > 0 {
			return n, nil
		}
		if err != nil || took < len(run) {
			return n, writeError(err)
		}
	}
	return n, nil
}

func (c *Conn) checkSize(b []byte) error {
	if len(b) > c.maxPayload {
		return &MessageSizeError{Size: len(b), Max: c.maxPayload}
	}
	return nil
}

// WriteBatch sends each b[i] as one message, waits for room for all of them, and
// returns how many were taken. One that is too long ends the batch with a
// *MessageSizeError; an empty one is taken and not sent.
func (c *Conn) WriteBatch(b [][]byte) (n int, err error) {
	for n < len(b) {
		if err := c.checkSize(b[n]); err != nil {
			return n, err
		}
		took, err := c.writeRun(b[n : n+max(c.run(b[n:]), 1)])
		n += took
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// run returns how many messages at the beginning of b can be sent together.
func (c *Conn) run(b [][]byte) int {
	for i := range b {
		if len(b[i]) == 0 || len(b[i]) > c.maxPayload {
			return i
		}
	}
	return len(b)
}

// writeRun sends messages that were checked, or one empty one.
func (c *Conn) writeRun(b [][]byte) (n int, err error) {
	for n < len(b) && len(b[n]) > 0 {
		if c.writeDeadline.passed.Load() {
			return n, ErrTimeout
		}
		took, err := c.lc.WriteBatch(b[n:], loop.Now())
		n += took
		if err == loop.ErrAgain {
			c.waitWrite()
			continue
		}
		if err != nil {
			return n, writeError(err)
		}
	}
	return len(b), nil
}

// waitWrite returns when it is worth while to try again; see waitRead.
func (c *Conn) waitWrite() {
	ch, ok := c.lc.ArmWrite()
	if !ok {
		return
	}
	if !c.writeDeadline.passed.Load() {
		<-ch
	}
	c.lc.DisarmWrite()
	if c.writeDeadline.passed.Load() {
		c.lc.KickWrite()
	}
}

// writeError is what a writer sees of the end of a connection.
func writeError(err error) error {
	switch err {
	case nil:
		return nil
	case loop.ErrAgain:
		return ErrAgain
	}
	return publicError(err)
}
