package endpoint

import (
	"fmt"
	"time"

	"github.com/weirline/weirline/srtcore"
)

type srtSink struct {
	session
	batch [][]byte
	pace  *pace // nil: as fast as the connection takes it
}

func newSRTSink(c *srtcore.Conn) *srtSink { return &srtSink{session: session{c}} }

// TakeTime tells the sink that its source can wait: a file, or a stream that
// may be one. Without it a file would fill the sender's buffer at once, and what
// the link carries more than a second later would be dropped as too late.
func (s *srtSink) TakeTime(file bool) {
	s.pace = &pace{limit: firstOfStream}
	if file {
		s.pace.limit = firstOfFile
	}
}

// WriteBatch implements Sink.
func (s *srtSink) WriteBatch(msgs [][]byte) error {
	limit := s.c.MaxPayload()
	s.batch = s.batch[:0]
	for _, m := range msgs {
		split(m, limit, func(b []byte) error { s.batch = append(s.batch, b); return nil })
	}
	if s.pace != nil {
		s.pace.wait(s.c, len(s.batch))
	}
	for rest := s.batch; len(rest) > 0; {
		n, err := s.c.WriteBatch(rest)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// TryWrite takes the first of msgs that need no cutting and for which there is
// room now, and returns how many. They are sent as of the time when they came.
// What else there is to say about them, an end of the connection included, is
// left to WriteBatch.
func (s *srtSink) TryWrite(msgs [][]byte, at time.Time) int {
	n, limit := 0, s.c.MaxPayload()
	for n < len(msgs) && len(msgs[n]) <= limit {
		n++
	}
	now := time.Now()
	if s.pace != nil {
		n = min(n, s.pace.roomNow(now, s.c.Buffered()))
	}
	if n == 0 {
		return 0
	}
	if now.Sub(at) > datedBack {
		at = now
	}
	n, _ = s.c.TryWriteBatch(msgs[:n], at)
	if s.pace != nil && n > 0 {
		s.pace.add(now, n)
	}
	return n
}

// datedBack is how far back a message may be dated: beyond, it was held up on its
// way here, and would be too late for the peer.
const datedBack = 20 * time.Millisecond

// UndeliveredError says that a session was closed although the peer had not
// acknowledged everything and took nothing more.
type UndeliveredError struct{ Messages int }

func (e *UndeliveredError) Error() string {
	return fmt.Sprintf("closed with %d messages unacknowledged", e.Messages)
}

// Close implements Sink. It waits as long as the peer goes on acknowledging,
// then until the peer had time to play the tail. A peer that leaves meanwhile
// has what it wanted.
func (s *srtSink) Close() error {
	left := s.flush()
	s.c.Close()
	if left > 0 {
		return &UndeliveredError{left}
	}
	return nil
}

// flushPatience bounds how long Close waits without any acknowledgement.
const flushPatience = 2 * time.Second

// flush returns how many messages are unacknowledged and not moving.
func (s *srtSink) flush() int {
	last, since := s.c.Buffered(), time.Now()
	for last > 0 {
		select {
		case <-s.c.Done():
			return 0
		case <-time.After(5 * time.Millisecond):
		}
		left := s.c.Buffered()
		if left != last {
			last, since = left, time.Now()
		} else if time.Since(since) > flushPatience+s.c.PeerLatency() {
			return left
		}
	}
	return 0
}

// Abort implements Sink.
func (s *srtSink) Abort() { s.c.Abort() }
