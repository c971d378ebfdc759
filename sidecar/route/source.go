package route

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
)

const batchSize = 64

// traits are the source's; several are live, all of them.
func (r *Route) traits() endpoint.Traits {
	if len(r.sources) > 1 {
		return endpoint.Traits{Again: true}
	}
	return r.source.traits
}

// runSources reads all sources until each has ended for good. The route's error
// is that of the last.
func (r *Route) runSources(ctx context.Context) error {
	if r.cfg.SlowAfter > 0 {
		watch, cancel := context.WithCancel(ctx)
		defer cancel()
		go r.watchSlow(watch)
	}
	r.awaitOutputs(ctx, r.traits().StartWait)
	if len(r.sources) == 1 {
		return r.runSource(ctx, 0)
	}
	var last error
	errs := make(chan error)
	for i := range r.sources {
		go func() { errs <- r.runSource(ctx, i) }()
	}
	for range r.sources {
		if err := <-errs; err != nil {
			last = err
		}
	}
	return last
}

// runSource reads session after session into the hub. It returns nil at the
// proper end and when told to stop.
func (r *Route) runSource(ctx context.Context, i int) error {
	e := r.sources[i]
	var bo backOff
	for ctx.Err() == nil {
		src, err := r.openSource(ctx, e)
		if ctx.Err() != nil {
			if err == nil {
				src.Close()
			}
			break
		}
		if err != nil {
			if err = r.sourceFailed(ctx, e, &bo, err); err != nil {
				return err
			}
			continue
		}
		begun := time.Now()
		err = r.pump(ctx, i, src)
		r.choice.lost(i)
		if ctx.Err() != nil {
			break
		}
		if !r.opensAgain(e) {
			return r.sourceEnded(e, err)
		}
		bo.after(time.Since(begun))
		if !e.traits.Listens && !sleep(ctx, bo.next(0)) {
			break
		}
	}
	e.setState(Done)
	return nil
}

func (r *Route) openSource(ctx context.Context, e *end) (endpoint.Source, error) {
	if e.traits.Listens {
		e.setState(Waiting)
	} else {
		e.setState(Connecting)
	}
	ctx, cancel := e.giveUpContext(ctx, r.cfg.GiveUp)
	defer cancel()
	return e.face.(endpoint.SourceEnd).OpenSource(ctx)
}

func (r *Route) sourceFailed(ctx context.Context, e *end, bo *backOff, err error) error {
	if !r.opensAgain(e) {
		e.failed(err, Failed)
		return fmt.Errorf("%s: %w", e.face.URL(), err)
	}
	err = e.retry(ctx, r.log, r.cfg.GiveUp, bo, err)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		r.event(Event{Level: Error, Kind: "failed", Text: err.Error()})
	}
	return err
}

// opensAgain reports whether a source that was lost, or not there, is opened again.
func (r *Route) opensAgain(e *end) bool {
	return e.traits.Again || r.cfg.Standing && !e.traits.Last
}

// Played reports whether each source has come to its end, after which it is not
// opened again. One that could not be opened has not.
func (r *Route) Played() bool {
	return !slices.ContainsFunc(r.sources, func(e *end) bool { return !e.played.Load() })
}

// Refused reports whether the route has ended because its source was refused, and
// would be again: for its credentials, mostly.
func (r *Route) Refused() bool {
	r.source.mu.Lock()
	defer r.source.mu.Unlock()
	if r.source.state != Failed || r.source.lastErr == nil {
		return false
	}
	f := endpoint.Judge(r.source.lastErr)
	return f.Kind == endpoint.Refused && f.Final
}

func (r *Route) sourceEnded(e *end, err error) error {
	e.played.Store(true)
	if err == nil {
		e.setState(Done)
		return nil
	}
	e.failed(err, Failed)
	return fmt.Errorf("%s: %w", e.face.URL(), err)
}

// pump reads one session to its end; nil is the proper end.
func (r *Route) pump(ctx context.Context, i int, src endpoint.Source) error {
	e := r.sources[i]
	s := newSession(src, nil)
	e.begin(s)
	r.log.Info("source up", about(e.face, s, nil)...)
	came, went := e.words(true)
	r.sessionEvent(e, s, came, nil)
	stop := context.AfterFunc(ctx, func() { src.Close() })
	err := r.read(ctx, i, src)
	stop()
	src.Close()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if why := s.why.Load(); why != nil {
		err = *why
	}
	e.finish(s, err)
	if ctx.Err() == nil {
		r.sessionEvent(e, s, went, err)
		r.log.Info("source ended", about(e.face, s, err)...)
	}
	return err
}

func (r *Route) read(ctx context.Context, i int, src endpoint.Source) error {
	if p, ok := src.(endpoint.Pusher); ok {
		return p.Push(func(msgs [][]byte, at time.Time) { r.arrived(ctx, i, msgs, at) })
	}
	msgs := make([][]byte, batchSize)
	for {
		n, err := src.ReadBatch(msgs)
		r.arrived(ctx, i, msgs[:n], time.Now())
		if err != nil {
			return err
		}
	}
}

// arrived publishes what source i has brought, if it is the one in use.
func (r *Route) arrived(ctx context.Context, i int, msgs [][]byte, at time.Time) {
	if len(msgs) == 0 {
		return
	}
	if len(r.sources) > 1 {
		r.choice.mu.Lock()
		defer r.choice.mu.Unlock()
		if !r.choice.take(i, time.Now()) {
			return
		}
	}
	if r.cfg.Monitor != nil {
		r.cfg.Monitor.Feed(msgs, at)
	}
	r.publish(ctx, msgs, at)
}

func (r *Route) publish(ctx context.Context, msgs [][]byte, at time.Time) {
	for len(msgs) > 0 {
		r.bePatient(ctx, len(msgs[0]))
		if n := r.hub.Offer(msgs, at); n > 0 {
			msgs = msgs[n:]
			continue
		}
		r.hub.Publish(msgs[0], at)
		msgs = msgs[1:]
	}
}

// awaitOutputs waits until every output was up once or has failed.
func (r *Route) awaitOutputs(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	if d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	for _, o := range r.fan.list() {
		select {
		case <-o.seen:
		case <-ctx.Done():
			return
		}
	}
}
