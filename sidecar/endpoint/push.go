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
	// Push reads the session to its end. It calls take for one batch at a time;
	// the messages are valid until take returns. io.EOF is the proper end.
	Push(take func(msgs [][]byte)) error
}

// pushSource is a byteSource over a reader whose Close unblocks its Read. No
// goroutine has to read ahead so that one may wait for two things at once: what
// waits for its message to fill is handed over by a timer.
type pushSource struct {
	*byteSource
	take func([][]byte)

	mu    sync.Mutex // of all below, and of the aligner
	msgs  [][]byte
	last  time.Time // when bytes came last
	quiet *time.Timer
	armed bool
	over  bool
}

const pushBatch = 64

// push is cut for readers whose Close unblocks Read.
func (c *cutter) push(r io.ReadCloser) Source {
	return &pushSource{byteSource: newByteSource(r, c.size), msgs: make([][]byte, pushBatch)}
}

// Push implements Pusher.
func (s *pushSource) Push(take func(msgs [][]byte)) error {
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
	s.handOver(s.cut)
	if !s.armed && s.align.Pending() > 0 {
		s.armed = true
		s.quiet.Reset(hold)
	}
}

func (s *pushSource) handOver(next func([][]byte) int) {
	for n := next(s.msgs); n > 0; n = next(s.msgs) {
		s.take(s.msgs[:n])
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
			s.take(s.msgs[:1])
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
	s.handOver(s.cut)
	s.handOver(func(dst [][]byte) int {
		k, _ := s.drain(dst)
		return k
	})
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
