package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/inflow"
	"github.com/weirline/weirline/sidecar/route"
)

// publish sends the request's body. With Expect: 100-continue the client holds
// the body back until we read, so SRT connects first and a refusal reaches it
// as a status. Without, the body is read from the first moment: an encoder must
// not stall, whatever SRT does.
func (h *Handler) publish(w http.ResponseWriter, r *http.Request, end End, name string, c *claim) {
	out, drop, err := h.connectFirst(r, end)
	if err != nil {
		if !errors.Is(err, errStopping) {
			h.ended(Outcome{Publish: true, Err: err, Told: true})
		}
		h.refuse(w, h.log().With("route", name), err)
		return
	}
	defer drop()
	body := &body{r: r.Body, rc: http.NewResponseController(w), onEnd: c.end}
	if body.conn = connOf(r); body.conn != nil {
		body.conn.Feed(true)
		defer body.conn.Feed(false)
	}
	ctx, cancel := h.untilStop(r)
	defer cancel()
	src := endpoint.Body(body)
	endpoint.FitMessages(src, end)
	rt, err := h.run(ctx, name, src, out)
	h.ended(Outcome{Publish: true, Err: err, Told: !body.ended.Load()})
	switch {
	case err != nil:
		h.refuse(w, h.log().With("route", name), err)
	case ctx.Err() != nil:
		fail(w, http.StatusServiceUnavailable, stopping)
	case rt.Stopped():
		fail(w, http.StatusServiceUnavailable, removed)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "weirline:", account(rt.Snapshot()))
	}
}

const removed = "The operator has removed this route."

// connectFirst connects before the body is asked for, if the client waits for
// that. drop ends the connection if no route came to use it.
func (h *Handler) connectFirst(r *http.Request, end End) (out endpoint.SinkEnd, drop func(), err error) {
	if !expects(r) || end.Listens() && !h.AwaitCaller {
		return end, func() {}, nil
	}
	ctx, cancel := h.untilEnding(r.Context())
	defer cancel()
	sink, err := firstOpen(ctx, h.GiveUp, end.OpenSink)
	opened := &openedSink{SinkEnd: end, first: sink}
	switch {
	case ctx.Err() != nil:
		if err == nil {
			opened.drop()
		}
		return nil, nil, errStopping
	case err != nil:
		return nil, nil, err
	}
	return opened, opened.drop, nil
}

// account says what became of a body: some of it may have found no reader, or
// no room, or no time.
func account(s route.Snapshot) string {
	out := s.Outputs[0]
	return fmt.Sprintf("%d messages, %d bytes; dropped %d while nobody was there, %d waiting to be sent, %d as too late",
		s.Media.Messages, s.Media.Bytes, s.Media.Unheard, out.Queue.Dropped, out.TooLate)
}

// untilStop ends when the daemon stops, but not when the client leaves: the
// server would end the request's own context while the last bytes are still on
// their way to the reader, who sees the end anyhow.
func (h *Handler) untilStop(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	if h.base == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(h.base, cancel)
	return ctx, func() { stop(); cancel() }
}

func expects(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Expect"), "100-continue")
}

// body is a request's body that can be closed while it is being read.
type body struct {
	r     io.Reader
	rc    *http.ResponseController
	conn  *inflow.Conn // may be nil
	onEnd func()
	ended atomic.Bool
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns nil where connections are not read on a tick.
func connOf(r *http.Request) *inflow.Conn {
	c, _ := r.Context().Value(connKey{}).(*inflow.Conn)
	return c
}

// Arrived is when the bytes that Read returned last had come; zero: not known.
func (b *body) Arrived() time.Time {
	if b.conn == nil {
		return time.Time{}
	}
	return b.conn.Arrived()
}

// Read implements io.Reader. A client that breaks off ends the stream as one
// that finishes: what came is delivered.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil {
		b.ended.Store(true)
		b.onEnd()
		err = io.EOF
	}
	return n, err
}

// Close unblocks Read. After the end it does nothing: the server is then
// watching the connection itself, and would take a deadline for a lost client.
func (b *body) Close() error {
	if b.ended.Load() {
		return nil
	}
	return b.rc.SetReadDeadline(time.Now())
}

// openedSink hands out the session that was opened before the route ran.
type openedSink struct {
	endpoint.SinkEnd
	mu    sync.Mutex
	first endpoint.Sink
}

// OpenSink implements endpoint.SinkEnd.
func (o *openedSink) OpenSink(ctx context.Context) (endpoint.Sink, error) {
	if first := o.take(); first != nil {
		return first, nil
	}
	return o.SinkEnd.OpenSink(ctx)
}

func (o *openedSink) take() endpoint.Sink {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.first
	o.first = nil
	return first
}

// drop ends the session if the route never came to it.
func (o *openedSink) drop() {
	if first := o.take(); first != nil {
		first.Abort()
	}
}
