package endpoint

import (
	"io"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/mpegts"
)

// hold is how long whole packets wait for the message to fill. An encoder
// writes once a frame; the tail of a frame must not wait for the next.
const hold = 10 * time.Millisecond

const readSize = 32 << 10

// cutter is what the ends of byte streams have in common.
type cutter struct{ size int }

// SetMessageSize sets how long messages may be; 0: MessageSize.
func (c *cutter) SetMessageSize(n int) { c.size = n }

func (c *cutter) cut(r io.ReadCloser) Source { return NewByteSource(r, c.size) }

// FitMessages makes the messages of a byte stream as long as the smallest
// payload size of its outputs, where one has a say in it.
func FitMessages(src SourceEnd, outs ...SinkEnd) {
	c, ok := src.(interface{ SetMessageSize(int) })
	if !ok {
		return
	}
	size := 0
	for _, o := range outs {
		if p, ok := o.(interface{ PayloadSize() int }); ok && (size == 0 || p.PayloadSize() < size) {
			size = p.PayloadSize()
		}
	}
	c.SetMessageSize(size)
}

// byteSource cuts a byte stream into messages. A goroutine reads ahead by one
// buffer, so that a quiet stream can be told from a busy one, and a Read that
// nothing unblocks holds nobody up.
type byteSource struct {
	r     io.ReadCloser
	align *mpegts.Aligner
	full  chan []byte
	empty chan []byte
	broke error // why reading ahead ended; set before full is closed

	timer   *time.Timer
	arrived []byte // of the last buffer, what the aligner has not taken yet
	buf     []byte // whose bytes arrived are
	ended   bool
	err     error // why
	closing sync.Once
	closed  chan struct{}
}

// NewByteSource returns a Source over any byte stream. A messageSize of 0 is
// MessageSize.
func NewByteSource(r io.ReadCloser, messageSize int) Source {
	s := newByteSource(r, messageSize)
	s.full, s.empty = make(chan []byte, 2), make(chan []byte, 2)
	s.timer = time.NewTimer(time.Hour)
	s.timer.Stop()
	s.empty <- make([]byte, readSize)
	s.empty <- make([]byte, readSize)
	go s.readAhead()
	return s
}

func newByteSource(r io.ReadCloser, messageSize int) *byteSource {
	return &byteSource{r: r, align: mpegts.NewAligner(messageSize), closed: make(chan struct{})}
}

func (s *byteSource) readAhead() {
	defer close(s.full)
	for {
		select {
		case b := <-s.empty:
			n, err := s.r.Read(b[:readSize])
			if n > 0 {
				s.full <- b[:n]
			} else {
				s.empty <- b
			}
			if err != nil {
				s.broke = err
				return
			}
		case <-s.closed:
			s.broke = io.EOF
			return
		}
	}
}

// ReadBatch implements Source.
func (s *byteSource) ReadBatch(dst [][]byte) (int, error) {
	for {
		if n := s.cut(dst); n > 0 {
			return n, nil
		}
		if s.ended {
			return s.drain(dst)
		}
		if len(s.arrived) == 0 {
			if m := s.wait(); m != nil {
				dst[0] = m
				return 1, nil
			}
		}
		s.feed()
	}
}

func (s *byteSource) cut(dst [][]byte) (n int) {
	for n < len(dst) {
		m := s.align.Next()
		if m == nil {
			break
		}
		dst[n] = m
		n++
	}
	return n
}

func (s *byteSource) drain(dst [][]byte) (n int, err error) {
	for n < len(dst) {
		m := s.align.Drain()
		if m == nil {
			break
		}
		dst[n] = m
		n++
	}
	if n == 0 {
		return 0, s.err
	}
	return n, nil
}

// wait takes the next buffer, or returns what has waited long enough.
func (s *byteSource) wait() []byte {
	for {
		var quiet <-chan time.Time
		if s.align.Pending() > 0 {
			s.timer.Reset(hold)
			quiet = s.timer.C
		}
		select {
		case b, ok := <-s.full:
			s.timer.Stop()
			s.arrived, s.buf = b, b
			if !ok {
				s.ended, s.err = true, s.broke
			}
			return nil
		case <-s.closed:
			s.ended, s.err = true, io.EOF
			return nil
		case <-quiet:
			if m := s.align.Hold(); m != nil {
				return m
			}
		}
	}
}

func (s *byteSource) feed() {
	if len(s.arrived) == 0 {
		return
	}
	n := copy(s.align.Space(), s.arrived)
	s.align.Commit(n)
	if s.arrived = s.arrived[n:]; len(s.arrived) == 0 {
		s.empty <- s.buf
		s.buf = nil
	}
}

// Close implements Source.
func (s *byteSource) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		err = s.r.Close()
	})
	return err
}
