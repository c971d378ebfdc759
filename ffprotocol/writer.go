package ffprotocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Writer is the write callback of an AVIOContext.
type Writer struct {
	stream
	cut cutter
	out [][]byte // the messages of one Write
}

// NewWriter writes to a connection that exists, and owns it from then on. The
// end of ctx ends it.
func NewWriter(ctx context.Context, conn *srtcore.Conn) *Writer {
	w := &Writer{}
	w.attach(ctx, conn)
	return w
}

// Write sends p in messages and returns when the connection has taken them all:
// it waits for room. The last message of a Write may be shorter than the others;
// it is sent at once. Only the beginning of an MPEG-TS packet whose rest is still
// to come waits for that.
func (w *Writer) Write(p []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.fault("write", &n, &err)
	if err := w.ended("write to"); err != nil {
		return 0, err
	}
	w.out = w.cut.cut(w.conn.MaxPayload(), p, w.out[:0])
	if err := w.send(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// send hands the messages over, all of them or the error is final.
func (w *Writer) send() error {
	if w.timeout > 0 {
		_ = w.conn.SetWriteDeadline(time.Now().Add(w.timeout))
	}
	_, err := w.conn.WriteBatch(w.out)
	clear(w.out) // p is not kept
	if err != nil {
		return w.fail("write to", err)
	}
	return nil
}

// Close sends what is held back and waits until the peer has had time to play
// everything: the latency and, for retransmissions, up to the URL's linger more.
// The end of the context ends the waiting. A Write that blocks returns.
//
// The error says that not everything may have arrived.
func (w *Writer) Close() error {
	var err error
	if w.mu.TryLock() { // else a Write runs, and what it holds back has no end
		err = w.rest()
		w.mu.Unlock()
	}
	if w.closed.Swap(true) {
		return nil
	}
	err = errors.Join(err, w.drain())
	if err != nil {
		return fmt.Errorf("ffprotocol: close: %w", err)
	}
	return nil
}

// rest sends the beginning of a packet that nothing will complete, if there is
// room for it.
func (w *Writer) rest() error {
	if w.ended("write to") != nil {
		return nil
	}
	_, err := w.conn.TryWriteBatch(w.cut.rest(w.out[:0]), time.Time{})
	return err
}

func (w *Writer) drain() error {
	err := w.conn.Close()
	w.detach()
	switch end := w.conn.Err(); {
	case err != nil:
		return err
	case w.ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrStopped, context.Cause(w.ctx))
	case !errors.Is(end, srtcore.ErrClosed):
		return end
	}
	if n := w.conn.Buffered(); n > 0 {
		return fmt.Errorf("%d messages were not acknowledged in time", n)
	}
	return nil
}

var _ io.WriteCloser = (*Writer)(nil)
