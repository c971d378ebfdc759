package ffprotocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// ErrStopped is what callbacks return once the context has ended; the cause is
// wrapped as well.
var ErrStopped = errors.New("stopped by the context")

// stream is what a Reader and a Writer have in common: a connection, a context
// that ends it, and the reason of its end.
type stream struct {
	conn    *srtcore.Conn
	ctx     context.Context
	detach  func() bool   // lets go of ctx
	timeout time.Duration // of one callback; 0: none

	mu     sync.Mutex // held by the callback that runs
	end    error      // what every callback returns from now on; io.EOF too
	closed atomic.Bool

	// reason is what Err returns; it has a lock of its own so that asking does not
	// wait for a callback.
	reasonMu sync.Mutex
	reason   error
}

// attach has ctx end the connection. Abort wakes whoever waits in it.
func (s *stream) attach(ctx context.Context, conn *srtcore.Conn) {
	s.conn, s.ctx = conn, ctx
	s.detach = context.AfterFunc(ctx, func() { _ = conn.Abort() })
}

// Conn returns the connection, for what is not forwarded here. Reading and
// writing are the stream's.
func (s *stream) Conn() *srtcore.Conn { return s.conn }

// Stats returns a snapshot of the connection's counters. Any goroutine may ask
// at any time, while a callback blocks and after Close too.
func (s *stream) Stats() srtcore.Stats { return s.conn.Stats() }

// StatsInterval is like Stats, but interval fields count from the previous call.
func (s *stream) StatsInterval() srtcore.Stats { return s.conn.StatsInterval() }

// Err returns why the stream failed: what stands behind the number that FFmpeg
// reports. It is nil while the stream runs, and stays nil if it reached its end
// or was closed by this side.
func (s *stream) Err() error {
	s.reasonMu.Lock()
	defer s.reasonMu.Unlock()
	return s.reason
}

// fail notes the end of the stream, and returns what the callback returns. Only
// the first one counts. The lock mu is held.
func (s *stream) fail(op string, err error) error {
	if s.end != nil {
		return s.end
	}
	switch {
	case err == io.EOF:
		s.end = err
		return err
	case s.ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", ErrStopped, context.Cause(s.ctx))
	case s.closed.Load() && errors.Is(err, net.ErrClosed):
		s.end = fmt.Errorf("ffprotocol: %s: %w", op, err)
		return s.end
	}
	s.end = fmt.Errorf("ffprotocol: %s %v: %w", op, s.conn.RemoteAddr(), err)
	s.because(s.end)
	return s.end
}

func (s *stream) because(err error) {
	s.reasonMu.Lock()
	defer s.reasonMu.Unlock()
	if s.reason == nil {
		s.reason = err
	}
}

// fault turns a panic into the end of the stream: the caller of a callback is C.
func (s *stream) fault(op string, n *int, err *error) {
	p := recover()
	if p == nil {
		return
	}
	s.end = &FaultError{Op: op, Value: p}
	s.because(s.end)
	*n, *err = 0, s.end
}

// ended returns the error of a stream that has ended, also by its context a
// moment ago.
func (s *stream) ended(op string) error {
	switch {
	case s.end != nil:
		return s.end
	case s.ctx.Err() != nil:
		return s.fail(op, s.ctx.Err())
	case s.closed.Load():
		return s.fail(op, srtcore.ErrClosed)
	}
	return nil
}

// FaultError is a panic in a callback: a mistake of this package or below it.
type FaultError struct {
	Op    string // "read" or "write"
	Value any    // what panic was called with
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("ffprotocol: internal fault in %s: %v", e.Op, e.Value)
}
