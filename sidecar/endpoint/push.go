package endpoint

import (
	"io"
	"sync"
	"time"
)

// Pusher is a Source that can do without a goroutine in between: the one that
// reads hands the messages over itself.
type Pusher interface {
	Source
	// Push reads the session to its end. It calls take for one batch at a time,
	// with the time when it came; the messages are valid until take returns. io.EOF
	// is the proper end.
	Push(take func(msgs [][]byte, at time.Time)) error
}

// pushSource is a byteSource over a reader whose Close unblocks its Read. No
// goroutine has to read ahead so that one may wait for two things at once: what
// waits for its message to fill is handed over by a timer.
type pushSource struct {
	*byteSource
	take   func([][]byte, time.Time)
	source dated // may be nil

	mu    sync.Mutex // of all below, and of the aligner
	msgs  [][]byte
	last  time.Time // when bytes came last
	quiet *time.Timer
	armed bool
	over  bool
}

const pushBatch = 64

// dated is a reader that knows when the bytes it returned last had come; the
// zero time: it does not.
type dated interface{ Arrived() time.Time }

// push is cut for readers whose Close unblocks Read.
func (c *cutter) push(r io.ReadCloser) Source {
	d, _ := r.(dated)
	return &pushSource{byteSource: newByteSource(r, c.size), source: d, msgs: make([][]byte, pushBatch)}
}

// Push implements Pusher.
func (s *pushSource) Push(take func(msgs [][]byte, at time.Time)) error {
	s.take = take
	s.mu.Lock()
	s.quiet = time.AfterFunc(time.Hour, s.holdOver)
	s.mu.Unlock()
	for {
		n, err := s.r.Read(s.space())
		if err != nil {
			s.finish(n)
			return s.reason(err)
		}
		s.arrive(n)
	}
}

// space is written to without the lock: nobody else touches what is beyond the
// aligner's end.
func (s *pushSource) space() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := s.align.Space()
	return room[:min(len(room), readSize)]
}

func (s *pushSource) arrive(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.align.Commit(n)
	s.last = time.Now()
	s.handOver(s.cut, s.cameAt())
	if !s.armed && s.align.Pending() > 0 {
		s.armed = true
		s.quiet.Reset(hold)
	}
}

func (s *pushSource) cameAt() time.Time {
	if s.source != nil {
		if at := s.source.Arrived(); !at.IsZero() {
			return at
		}
	}
	return s.last
}

func (s *pushSource) handOver(next func([][]byte) int, at time.Time) {
	for n := next(s.msgs); n > 0; n = next(s.msgs) {
		s.take(s.msgs[:n], at)
	}
}

// holdOver hands over what has waited long enough. The timer is not stopped
// when a message fills: it finds nothing then, or waits on.
func (s *pushSource) holdOver() {
	if !s.mu.TryLock() {
		s.quiet.Reset(hold) // the reader is at it, perhaps held up by an output
		return
	}
	defer s.mu.Unlock()
	if s.over || s.align.Pending() == 0 {
		s.armed = false
		return
	}
	wait := hold - time.Since(s.last)
	if wait <= 0 {
		wait = hold
		if m := s.align.Hold(); m != nil {
			s.msgs[0] = m
			s.take(s.msgs[:1], time.Now())
		}
	}
	s.quiet.Reset(wait)
}

func (s *pushSource) finish(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.quiet.Stop()
	s.align.Commit(n)
	now := time.Now()
	s.handOver(s.cut, now)
	s.handOver(func(dst [][]byte) int {
		k, _ := s.drain(dst)
		return k
	}, now)
}

// reason is err, unless the source was closed.
func (s *pushSource) reason(err error) error {
	select {
	case <-s.closed:
		return io.EOF
	default:
		return err
	}
}
