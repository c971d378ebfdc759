package srtcore

import (
	"errors"
	"io"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/loop"
)

// MessageInfo describes a received message.
type MessageInfo struct {
	// Source is when the peer's application handed the message in, on this
	// side's clock.
	Source time.Time
	// Seq is the packet sequence number.
	Seq uint32
}

// Read reads one message into b and waits for it. If b is too small the error is
// io.ErrShortBuffer and the message stays; 1456 bytes take any message. After
// the peer closed, and everything it had sent was read, the error is io.EOF.
func (c *Conn) Read(b []byte) (int, error) {
	n, _, err := c.read(b)
	return n, err
}

// ReadMessage is like Read and tells more about the message.
func (c *Conn) ReadMessage(b []byte) (n int, info MessageInfo, err error) {
	n, r, err := c.read(b)
	if err == nil {
		info = MessageInfo{Source: loop.Wall(r.Source), Seq: uint32(r.Seq)}
	}
	return n, info, err
}

func (c *Conn) read(b []byte) (int, loop.Received, error) {
	for {
		if c.readDeadline.passed.Load() {
			return 0, loop.Received{}, ErrTimeout
		}
		n, r, err := c.lc.Read(b)
		if err == nil {
			return n, r, nil
		}
		if err != loop.ErrAgain {
			return 0, r, readError(err)
		}
		c.waitRead()
	}
}

// ReadBatch reads up to len(b) messages, each into b[i], whose length it sets
// and whose capacity must be enough (1456 bytes take any message). It waits for
// the first message only. Fewer than len(b) means that there were no more, or
// that the next did not fit.
func (c *Conn) ReadBatch(b [][]byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		if c.readDeadline.passed.Load() {
			return 0, ErrTimeout
		}
		n, err = c.lc.ReadBatch(b)
		if err == nil {
			return n, nil
		}
		if err != loop.ErrAgain {
			return 0, readError(err)
		}
		c.waitRead()
	}
}

// TryReadBatch is like ReadBatch but never waits: 0 and no error mean that there
// is nothing yet.
func (c *Conn) TryReadBatch(b [][]byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err = c.lc.ReadBatch(b)
	if err == loop.ErrAgain {
		return 0, nil
	}
	return n, readError(err)
}

// waitRead returns when it is worth while to try again.
func (c *Conn) waitRead() {
	ch, ok := c.lc.ArmRead()
	if !ok {
		return
	}
	// Having armed, a deadline that passes kicks the channel; one that passed
	// before shows here.
	if !c.readDeadline.passed.Load() {
		<-ch
	}
	c.lc.DisarmRead()
	if c.readDeadline.passed.Load() {
		c.lc.KickRead() // one kick wakes one; the deadline is everybody's
	}
}

// readError is what a reader sees of the end of a connection.
func readError(err error) error {
	switch {
	case err == nil || err == io.ErrShortBuffer:
		return err
	case errors.Is(err, engine.ErrPeerShutdown):
		return io.EOF
	}
	return publicError(err)
}
