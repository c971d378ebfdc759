package inflow

import (
	"io"
	"net"
	"sync"
	"time"
)

// roomSize bounds what a connection holds between two ticks. A writer that
// fills it is faster than any live media and is read directly again.
const roomSize = 64 << 10

// fastFor is how long a connection that was too fast for the tick stays away.
const fastFor = time.Second

// Conn is an accepted TCP connection. One goroutine may Read at a time.
type Conn struct {
	*net.TCPConn
	r *Reader
	s *socket

	mu    sync.Mutex
	allow bool   // Feed was called
	room  []byte // of roomSize while it is on the tick, or not empty
	from  int    // room[from:to] is not read yet
	to    int
	broke error     // what comes after it
	at    time.Time // when the bytes that Read returned last arrived
	came  time.Time // when those in room did
	last  time.Time // when a piece was counted
	fast  time.Time // until then it is not read on the tick
	bell  *bell     // while it is on the tick
	waits bool      // Read waits for the bell, or is about to
}

// Feed allows that the connection is read on the tick, or ends that.
func (c *Conn) Feed(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allow = on
	if !on {
		c.leaveLocked()
	}
}

// Arrived is when the bytes that Read returned last had come from the writer.
func (c *Conn) Arrived() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		n, more, err := c.take(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		if more != nil {
			more.wait()
			continue
		}
		n, err = c.TCPConn.Read(p)
		c.direct(n)
		return n, err
	}
}

// take returns what the tick has read, or how to wait for more; nil: it comes
// some other way.
func (c *Conn) take(p []byte) (n int, more *bell, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n = copy(p, c.room[c.from:c.to]); n > 0 {
		c.from += n
		c.at = c.came
		if c.from == c.to {
			c.from, c.to = 0, 0
			if c.bell == nil {
				c.room = nil
			}
		}
		return n, nil, nil
	}
	if c.broke != nil {
		return 0, nil, c.broke
	}
	c.waits = c.bell != nil
	return 0, c.bell, nil
}

// direct notes what a read without the tick brought, and may change over.
func (c *Conn) direct(n int) {
	now := time.Now()
	c.mu.Lock()
	c.at = now
	piece := n > 0 && c.allow && now.Sub(c.last) > Tick/2 && now.After(c.fast)
	if piece {
		c.last = now
	}
	c.mu.Unlock()
	if piece && c.r.arrived(now) && c.enter() {
		c.r.join(c)
	}
}

func (c *Conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bell != nil || !c.allow {
		return false
	}
	b, err := newBell()
	if err != nil {
		return false
	}
	if !c.s.begin() {
		b.close()
		return false
	}
	c.bell = b
	c.room = make([]byte, roomSize)
	return true
}

func (c *Conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaveLocked()
}

// leaveLocked has Read read by itself again, after what is in the room.
func (c *Conn) leaveLocked() {
	if c.bell == nil {
		return
	}
	if c.from == c.to {
		c.room = nil
	}
	c.s.end()
	c.bell.close() // which ends its wait
	c.bell = nil
}

// look reads what is there at a tick.
func (c *Conn) look(now time.Time) (came, stays bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bell == nil {
		return false, false
	}
	if c.from > 0 {
		c.to = copy(c.room, c.room[c.from:c.to])
		c.from = 0
	}
	was := c.to
	for c.to < roomSize {
		n, err := c.readLocked(now)
		if err == errNothing {
			break
		}
		c.to += n
		if n == 0 {
			if err == nil {
				err = io.EOF
			}
			c.broke = err
			c.leaveLocked()
			return true, false
		}
	}
	switch came = c.to > was; {
	case c.to == roomSize:
		c.fast = now.Add(fastFor)
		c.leaveLocked()
	case came && c.waits:
		c.waits = false
		c.bell.ring()
	}
	return came, c.bell != nil
}

// readLocked adds to the room what one call brings; the first bytes date it.
func (c *Conn) readLocked(now time.Time) (int, error) {
	if c.to > 0 {
		return c.s.more(c.room[c.to:])
	}
	n, age, err := c.s.read(c.room)
	if n > 0 {
		c.came = now.Add(-min(age, 2*Tick))
	}
	return n, err
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	c.Feed(false)
	return c.TCPConn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn. It ends the reading on the tick, which
// knows no deadlines.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.Feed(false)
	return c.TCPConn.SetReadDeadline(t)
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.Feed(false)
	return c.TCPConn.Close()
}
