package endpoint

import (
	"io"
	"sync"
)

// writerSink writes messages one after another into a byte stream: one write a
// batch, since every write of a pipe or a socket wakes its reader.
type writerSink struct {
	w    io.WriteCloser
	buf  []byte
	once sync.Once
	err  error
}

func newWriterSink(w io.WriteCloser) *writerSink { return &writerSink{w: w} }

// WriteBatch implements Sink.
func (s *writerSink) WriteBatch(msgs [][]byte) error {
	s.buf = s.buf[:0]
	for _, m := range msgs {
		s.buf = append(s.buf, m...)
	}
	_, err := s.w.Write(s.buf)
	return err
}

// Close implements Sink.
func (s *writerSink) Close() error {
	s.once.Do(func() { s.err = s.w.Close() })
	return s.err
}

// Abort implements Sink.
func (s *writerSink) Abort() { s.Close() }
