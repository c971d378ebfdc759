package route

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
)

// State is how an end stands.
type State string

const (
	Idle       State = "idle"       // not tried yet
	Connecting State = "connecting" // dialling
	Waiting    State = "waiting"    // listening, nobody there
	Up         State = "up"
	BackOff    State = "back-off" // lost or refused; tried again soon
	Failed     State = "failed"   // for good
	Done       State = "done"     // ended as it should
)

// end is what a source and an output have in common: an End, its state and the
// history of its sessions.
type end struct {
	face   endpoint.End
	traits endpoint.Traits
	played atomic.Bool // a source that has come to its end for good

	mu       sync.Mutex
	state    State
	since    time.Time // of the state
	alone    time.Time // since when there is no session; zero: there is one
	sessions map[*session]struct{}
	opened   int             // sessions ever
	gone     hub.ReaderStats // of past sessions with a queue of their own
	failures int             // attempts that failed, ever
	lastErr  error
}

func newEnd(e endpoint.End) *end {
	now := time.Now()
	return &end{face: e, traits: e.Traits(), state: Idle, since: now, alone: now, sessions: map[*session]struct{}{}}
}

func (e *end) setState(s State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.setStateLocked(s)
}

func (e *end) setStateLocked(s State) {
	if e.state != s && e.state != Failed {
		e.state, e.since = s, time.Now()
	}
}

func (e *end) failed(err error, s State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failures++
	e.lastErr = err
	e.setStateLocked(s)
}

// connectingFor is how long the attempt that is being made has taken.
func (e *end) connectingFor() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state != Connecting {
		return 0
	}
	return time.Since(e.since)
}

// begin and finish frame one session.
func (e *end) begin(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions[s] = struct{}{}
	e.opened++
	e.alone = time.Time{}
	e.setStateLocked(Up)
}

func (e *end) finish(s *session, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions, s)
	if s.own {
		e.gone = plus(e.gone, s.queue.Stats())
	}
	if err != nil {
		e.lastErr = err
	}
	if len(e.sessions) == 0 {
		e.alone = time.Now()
		if e.traits.Listens {
			e.setStateLocked(Waiting)
		}
	}
}

func (e *end) list() (all []*session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.sessions {
		all = append(all, s)
	}
	return all
}

func (e *end) session(id string) *session {
	for _, s := range e.list() {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (e *end) isUp() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.sessions) > 0
}

// gaveUp reports whether the end has been without a peer for d. d is 0 for a
// route that never gives up.
func (e *end) gaveUp(d time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d == 0 || e.alone.IsZero() || time.Since(e.alone) < d {
		return nil
	}
	if e.lastErr != nil {
		return fmt.Errorf("%s: %w after %v; last: %w", e.face.URL(), ErrGaveUp, d, e.lastErr)
	}
	return fmt.Errorf("%s: %w after %v", e.face.URL(), ErrGaveUp, d)
}

// giveUpContext ends when the end will have been alone for d, so that an open
// that waits does not outlast it. An end with sessions looks again after d.
func (e *end) giveUpContext(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	e.mu.Lock()
	alone := e.alone
	e.mu.Unlock()
	if d == 0 {
		return context.WithCancel(ctx)
	}
	if alone.IsZero() {
		return context.WithTimeout(ctx, d)
	}
	return context.WithDeadline(ctx, alone.Add(d))
}

// retry decides about a failed attempt: nil means wait and try again; any
// error is the end's last.
func (e *end) retry(ctx context.Context, log *slog.Logger, giveUp time.Duration, bo *backOff, err error) error {
	f := endpoint.Judge(err)
	if f.Final {
		e.failed(err, Failed)
		log.Error("failed for good", "url", e.face.URL(), "err", err, "advice", f.Advice)
		return fmt.Errorf("%s: %w", e.face.URL(), err)
	}
	tried := e.connectingFor()
	e.failed(err, BackOff)
	if gone := e.gaveUp(giveUp); gone != nil {
		e.failed(err, Failed)
		return gone
	}
	d := bo.next(tried)
	log.Warn("no connection, trying again", "url", e.face.URL(), "err", err, "in", d.Round(time.Millisecond))
	pause, cancel := e.giveUpContext(ctx, giveUp)
	defer cancel()
	if !sleep(pause, d) && ctx.Err() == nil {
		gone := e.gaveUp(giveUp)
		if gone != nil {
			e.failed(err, Failed)
		}
		return gone
	}
	return ctx.Err()
}
