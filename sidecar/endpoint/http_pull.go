package endpoint

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// OpenSource implements SourceEnd.
func (e *httpEnd) OpenSource(ctx context.Context) (Source, error) {
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(ctx.Err()) })
	resp, err := e.fetch(life)
	if !stop() && err == nil { // ctx ended, and with it what was fetched
		resp.Body.Close()
		err = ctx.Err()
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return e.push(newHTTPBody(life, cancel, resp.Body, e.timeout)), nil
}

func (e *httpEnd) fetch(ctx context.Context) (*http.Response, error) {
	req, err := e.request(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, errOf(ctx, err)
	}
	if resp.StatusCode/100 != 2 {
		resp.Body.Close()
		return nil, &StatusError{resp.StatusCode}
	}
	return resp, nil
}

// httpBody reads a reply's body, and not for ever if nothing comes.
type httpBody struct {
	io.ReadCloser
	life    context.Context
	cancel  context.CancelCauseFunc
	timeout time.Duration
	guard   *time.Timer
	closed  atomic.Bool
}

func newHTTPBody(life context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, timeout time.Duration) *httpBody {
	b := &httpBody{ReadCloser: body, life: life, cancel: cancel, timeout: timeout}
	b.guard = time.AfterFunc(timeout, func() { cancel(&SilentError{timeout}) })
	b.guard.Stop()
	return b
}

// Read implements io.Reader. A reader that is held up does not call it, and the
// server's patience is its own then.
func (b *httpBody) Read(p []byte) (int, error) {
	b.guard.Reset(b.timeout)
	n, err := b.ReadCloser.Read(p)
	b.guard.Stop()
	if err != nil && err != io.EOF {
		err = errOf(b.life, err)
	}
	return n, err
}

// Close implements io.Closer and ends a Read.
func (b *httpBody) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	b.guard.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
