package endpoint

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// OpenSink implements SinkEnd. It returns when the server has given leave to send,
// or has had the time to refuse.
func (e *httpEnd) OpenSink(ctx context.Context) (Sink, error) {
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r, w := io.Pipe()
	s := &httpSink{
		writerSink: newWriterSink(w), w: w, cancel: cancel, timeout: e.timeout,
		asked: make(chan struct{}), done: make(chan struct{}),
	}
	s.guard = time.AfterFunc(e.timeout, func() { cancel(&SilentError{e.timeout}) })
	s.guard.Stop()
	go s.run(life, e, r)
	select {
	case <-s.asked:
		return s, nil
	case <-s.done:
		return nil, s.err
	case <-ctx.Done():
		s.Abort()
		return nil, ctx.Err()
	}
}

// httpSink is one request. Its body is what was written.
type httpSink struct {
	*writerSink
	w       *io.PipeWriter
	cancel  context.CancelCauseFunc
	timeout time.Duration
	guard   *time.Timer // of a write

	first sync.Once
	asked chan struct{} // closed when the body is asked for
	done  chan struct{} // closed when the request is over
	err   error         // why; set before; nil: the server has taken all
}

var (
	errEarly   = errors.New("the server has ended the request before the end of the media")
	errAborted = errors.New("the request was aborted")
)

func (s *httpSink) run(ctx context.Context, e *httpEnd, r *io.PipeReader) {
	defer s.cancel(nil)
	defer close(s.done)
	s.err = s.exchange(ctx, e, r)
	if s.err != nil {
		r.CloseWithError(s.err)
		return
	}
	r.CloseWithError(errEarly) // for a Write that comes after it; Close is over
}

func (s *httpSink) exchange(ctx context.Context, e *httpEnd, r *io.PipeReader) error {
	req, err := e.request(ctx)
	if err != nil {
		return err
	}
	body := &askedBody{PipeReader: r, sink: s}
	req.Body, req.ContentLength = body, -1
	req.Header.Set("Expect", "100-continue")
	req.Header.Set("Content-Type", e.contentType)
	resp, err := e.client.Do(req)
	if err != nil {
		return errOf(ctx, err)
	}
	resp.Body.Close()
	switch {
	case resp.StatusCode/100 != 2:
		return &StatusError{resp.StatusCode}
	case !body.ended():
		return errEarly
	}
	return nil
}

// askedBody notes the first Read: until then the server may refuse; and the end.
type askedBody struct {
	*io.PipeReader
	sink *httpSink

	mu  sync.Mutex
	eof bool
}

func (b *askedBody) Read(p []byte) (int, error) {
	b.sink.first.Do(func() { close(b.sink.asked) })
	n, err := b.PipeReader.Read(p)
	if err == io.EOF {
		b.mu.Lock()
		b.eof = true
		b.mu.Unlock()
	}
	return n, err
}

func (b *askedBody) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.eof
}

// WriteBatch implements Sink. A server that takes nothing is left.
func (s *httpSink) WriteBatch(msgs [][]byte) error {
	s.guard.Reset(s.timeout)
	defer s.guard.Stop()
	err := s.writerSink.WriteBatch(msgs)
	if errors.Is(err, io.ErrClosedPipe) { // the request closes its body before it says why
		<-s.done
		if err = s.err; err == nil {
			err = errEarly
		}
	}
	return err
}

// Close implements Sink: it ends the body and waits for the server's answer.
func (s *httpSink) Close() error {
	s.guard.Reset(s.timeout)
	defer s.guard.Stop()
	s.w.Close()
	<-s.done
	return s.err
}

// Abort implements Sink.
func (s *httpSink) Abort() {
	s.cancel(errAborted)
	s.w.CloseWithError(errAborted)
}

// Done is closed when the request is over.
func (s *httpSink) Done() <-chan struct{} { return s.done }

// Err is why it is over.
func (s *httpSink) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}
