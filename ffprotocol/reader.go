package ffprotocol

import (
	"context"
	"io"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Reader is the read callback of an AVIOContext.
type Reader struct {
	stream
	lent    [16]srtcore.Message // received and not yet wholly read
	at, got int                 // lent[at:got] are left
	off     int                 // of lent[at]: so much was read
}

// NewReader reads from a connection that exists, and owns it from then on. The
// end of ctx ends it.
func NewReader(ctx context.Context, conn *srtcore.Conn) *Reader {
	r := &Reader{}
	r.attach(ctx, conn)
	return r
}

// Read waits until something was received and returns as much of it as there is
// and p takes. The error is io.EOF after the peer has closed and all that it sent
// was read, and ErrStopped once the context has ended; every later call returns
// it again.
func (r *Reader) Read(p []byte) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.fault("read", &n, &err)
	if err := r.ended("read from"); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if r.timeout > 0 {
		_ = r.conn.SetReadDeadline(time.Now().Add(r.timeout))
	}
	for n == 0 { // an empty message is no reason to return
		if err := r.receive(); err != nil {
			return 0, r.fail("read from", err)
		}
		n = r.take(p)
	}
	for n < len(p) && r.more() {
		n += r.take(p[n:])
	}
	return n, nil
}

// receive waits for messages if none is left.
func (r *Reader) receive() error {
	if r.at < r.got {
		return nil
	}
	n, err := r.conn.ReceiveBatch(r.lent[:])
	r.at, r.got, r.off = 0, n, 0
	return err
}

// more reports whether there is more to read without waiting. Errors are left to
// the next Read, which meets them again.
func (r *Reader) more() bool {
	if r.at < r.got {
		return true
	}
	n, err := r.conn.TryReceiveBatch(r.lent[:])
	r.at, r.got, r.off = 0, n, 0
	return err == nil && n > 0
}

// take copies what is left of the messages that were lent, and gives those back
// that were read to the end.
func (r *Reader) take(p []byte) (n int) {
	first := r.at
	for r.at < r.got && n < len(p) {
		payload := r.lent[r.at].Payload()
		k := copy(p[n:], payload[r.off:])
		n += k
		r.off += k
		if r.off == len(payload) {
			r.at, r.off = r.at+1, 0
		}
	}
	r.conn.Release(r.lent[first:r.at])
	return n
}

// Close ends the connection at once; a Read that blocks returns. What was
// received and not read is dropped.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	r.detach()
	err := r.conn.Abort()
	r.mu.Lock() // a Read has returned
	defer r.mu.Unlock()
	r.conn.Release(r.lent[r.at:r.got])
	r.at, r.got = 0, 0
	return err
}

var _ io.ReadCloser = (*Reader)(nil)
