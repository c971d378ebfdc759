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

// Close sends what is held back and waits until the peer has played everything:
// as long as the peer goes on acknowledging, and then for its latency. The end of
// the context ends the waiting. A Write that still blocks is cut short.
//
// The error says that not everything arrived.
func (w *Writer) Close() error {
	if w.closed.Swap(true) {
		return nil
	}
	err := errCutShort
	if w.mu.TryLock() {
		err = w.rest()
		w.mu.Unlock()
		if err == nil {
			err = w.acknowledged()
		}
	}
	_ = w.conn.Close() // has no error to tell
	w.detach()
	if w.ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrStopped, context.Cause(w.ctx))
	} else if end := w.conn.Err(); !errors.Is(end, srtcore.ErrClosed) {
		err = end
	}
	if err != nil {
		return fmt.Errorf("ffprotocol: close: %w", err)
	}
	return nil
}

var errCutShort = errors.New("a write was cut short")

// rest sends the beginning of a packet that nothing will complete, if there is
// room for it.
func (w *Writer) rest() error {
	if w.end != nil {
		return w.end
	}
	_, err := w.conn.TryWriteBatch(w.cut.rest(w.out[:0]), time.Time{})
	return err
}

// patience is how long Close waits, beside the latency, for an acknowledgement
// that does not come.
const patience = 2 * time.Second

// acknowledged waits until the peer has acknowledged everything, or stopped
// doing so.
func (w *Writer) acknowledged() error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	last, since := w.conn.Buffered(), time.Now()
	for last > 0 {
		select {
		case <-w.conn.Done(): // by the context or the peer; the caller sees which
			return nil
		case <-tick.C:
		}
		left := w.conn.Buffered()
		switch {
		case left != last:
			last, since = left, time.Now()
		case time.Since(since) > patience+w.conn.PeerLatency():
			return fmt.Errorf("%d messages were not acknowledged for %v", left, patience+w.conn.PeerLatency())
		}
	}
	return nil
}

var _ io.WriteCloser = (*Writer)(nil)
