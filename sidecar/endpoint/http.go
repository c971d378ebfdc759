package endpoint

import (
	"context"
	"io"
	"net/http"
	"time"
)

// bodyEnd is the body of one HTTP request as a source.
type bodyEnd struct {
	cutter
	body io.ReadCloser
}

// Body returns the end that reads a request's body. An encoder behind it is
// read from the first moment on.
func Body(body io.ReadCloser) SourceEnd { return &bodyEnd{body: body} }

func (e *bodyEnd) URL() string    { return "http request body" }
func (e *bodyEnd) Traits() Traits { return Traits{Patience: pipePatience} }
func (e *bodyEnd) Close() error   { return nil }

func (e *bodyEnd) OpenSource(context.Context) (Source, error) {
	return e.push(e.body), nil
}

// replyEnd is the reply to one HTTP request as an output.
type replyEnd struct{ sink *replySink }

// Reply returns the end that writes a reply's body, each batch at once.
func Reply(w http.ResponseWriter) SinkEnd {
	return replyEnd{&replySink{w: w, rc: http.NewResponseController(w)}}
}

func (e replyEnd) URL() string    { return "http reply" }
func (e replyEnd) Traits() Traits { return Traits{} }
func (e replyEnd) Close() error   { return nil }

func (e replyEnd) OpenSink(context.Context) (Sink, error) { return e.sink, nil }

type replySink struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// WriteBatch implements Sink.
func (s *replySink) WriteBatch(msgs [][]byte) error {
	for _, m := range msgs {
		if _, err := s.w.Write(m); err != nil {
			return err
		}
	}
	return s.rc.Flush()
}

// Close implements Sink; the server ends the reply when its handler returns.
func (s *replySink) Close() error { return nil }

// Abort implements Sink: a write to a client that does not read returns.
func (s *replySink) Abort() { s.rc.SetWriteDeadline(time.Now()) }
