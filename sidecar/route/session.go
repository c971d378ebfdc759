package route

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
)

// errEnded is the reason of a session whose peer left while nothing was being
// sent.
var errEnded = errors.New("the peer has ended the connection")

// What a session may tell about itself, by scheme.
type (
	peerer interface{ Peer() string }
	doner  interface {
		Done() <-chan struct{}
		Err() error
	}
	statter    interface{ SRTStats() srtcore.Stats }
	streamIDer interface{ StreamID() string }
	userer     interface{ User() string }
	conner     interface{ Conn() *srtcore.Conn }
	// unhurried is a sink that can spread a source that waits for it: one that
	// is a file for sure, or one that may be live.
	unhurried interface{ TakeTime(file bool) }
	// tryWriter is a sink that can take messages, which came at a given time,
	// without waiting: the first n of them. It is never asked during WriteBatch.
	tryWriter interface {
		TryWrite(msgs [][]byte, at time.Time) (n int)
	}
)

// session is one connection of an end.
type session struct {
	id     string
	of     any // a Source or a Sink
	queue  *hub.Reader
	own    bool // the queue is the session's, not the output's
	begun  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	why    atomic.Pointer[error] // of a kick

	// Of watchSlow.
	dropped uint64
	slow    time.Time // since when it has been losing; zero: it is not
}

// serial numbers the sessions of the process.
var serial atomic.Uint64

func newSession(of any, queue *hub.Reader) *session {
	return &session{id: "c" + strconv.FormatUint(serial.Add(1), 10), of: of, queue: queue, begun: time.Now()}
}

// kick ends the session for this reason.
func (s *session) kick(why error) {
	s.why.CompareAndSwap(nil, &why)
	switch of := s.of.(type) {
	case endpoint.Sink:
		of.Abort()
	case endpoint.Source:
		of.Close()
	}
	s.end()
}

// losing notes whether the queue, or the connection itself, has dropped anything
// since the last call, and reports whether the session has not recovered for the
// given time. Media comes in bursts: a pause between two in which the queue stays
// full is no recovery.
func (s *session) losing(now time.Time, limit time.Duration) bool {
	n := s.queue.Stats().Dropped
	if c, ok := s.of.(statter); ok {
		n += uint64(c.SRTStats().PktSndDropTotal)
	}
	switch lost := n != s.dropped; {
	case !lost && s.queue.HasRoom():
		s.slow = time.Time{}
	case lost && s.slow.IsZero():
		s.slow = now
	}
	s.dropped = n
	return !s.slow.IsZero() && now.Sub(s.slow) >= limit
}

func (s *session) peer() string {
	if p, ok := s.of.(peerer); ok {
		return p.Peer()
	}
	return ""
}

// about is what a log line says of a session.
func about(e endpoint.End, s *session, err error) []any {
	attrs := []any{"url", e.URL(), "connection", s.id}
	if p := s.peer(); p != "" {
		attrs = append(attrs, "peer", p)
	}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	return attrs
}

// context ends when ctx does, or the peer leaves: an idle sender must notice.
func (s *session) context(ctx context.Context) context.Context {
	s.ctx, s.cancel = context.WithCancel(ctx)
	if d, ok := s.of.(doner); ok {
		go func() {
			select {
			case <-d.Done():
				s.cancel()
			case <-s.ctx.Done():
			}
		}()
	}
	return s.ctx
}

// reason turns the end of the session's context into a word on the peer.
func (s *session) reason(err error) error {
	if why := s.why.Load(); why != nil {
		return *why
	}
	if !errors.Is(err, context.Canceled) {
		return err
	}
	if d, ok := s.of.(doner); ok && d.Err() != nil {
		return d.Err()
	}
	return errEnded
}

func (s *session) end() {
	if s.cancel != nil {
		s.cancel()
	}
}
