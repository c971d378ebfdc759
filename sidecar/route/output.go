package route

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
)

// output is one output end. A dialling one has one queue that outlives its
// sessions; a listening one gives each caller a queue of its own.
type output struct {
	*end
	id     string // within the route
	cancel context.CancelFunc
	ended  chan struct{} // closed when it does not run any more
	r      *Route
	sink   endpoint.SinkEnd
	seen   chan struct{} // closed when it was up once, or never will be
	once   sync.Once

	queue   *hub.Reader   // dialling only
	room    chan struct{} // a queue has room, or a session came or went
	over    atomic.Bool   // it takes nothing any more
	mu      sync.Mutex
	final   error // why it failed for good
	tail    error // what its last close could not deliver
	tooLate int64 // what past sessions' connections dropped
	stalled bool  // the source's: it had its chance; no more patience until it has room again
}

// limited is an end that can tell callers itself that there are too many.
type limited interface{ AtMost(callers int) }

func newOutput(r *Route, e endpoint.SinkEnd) *output {
	if l, ok := e.(limited); ok {
		l.AtMost(r.cfg.MaxPlayers)
	}
	o := &output{end: newEnd(e), r: r, sink: e, ended: make(chan struct{}), seen: make(chan struct{}), room: make(chan struct{}, 1)}
	if !o.traits.Listens {
		o.queue = o.join()
	}
	return o
}

// join returns a queue, which begins, and goes on after a loss, as the end wants it.
func (o *output) join() *hub.Reader {
	return o.r.hub.JoinWith(hub.Options{Limit: o.r.cfg.Queue, Room: o.room, Cut: endpoint.Cut(o.sink), Begin: endpoint.Begin(o.sink)})
}

func (o *output) markSeen() { o.once.Do(func() { close(o.seen) }) }

func (o *output) run(ctx context.Context) {
	defer o.markSeen()
	defer o.tellRoom()
	defer o.over.Store(true)
	var err error
	if o.traits.Listens {
		err = o.serve(ctx)
	} else {
		err = o.call(ctx)
		o.queue.Leave()
	}
	o.mu.Lock()
	o.final = err
	o.mu.Unlock()
	switch {
	case err == nil:
		o.setState(Done)
	case ctx.Err() == nil:
		o.r.event(Event{Level: Error, Kind: "failed", Text: err.Error()})
	}
}

func (o *output) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.final
}

// call keeps one session up: it dials, delivers, and dials again. nil: the
// source has ended and all was delivered, or nothing can be any more.
func (o *output) call(ctx context.Context) error {
	tries, cancel := o.untilLast(ctx)
	defer cancel()
	var bo backOff
	for {
		sink, err := o.open(tries)
		if err == nil {
			begun := time.Now()
			if err = o.deliver(ctx, sink, o.queue); err == nil {
				return o.undeliveredTail()
			}
			bo.after(time.Since(begun))
		}
		if o.r.ended() && (tries.Err() != nil || o.queue.Stats().Queued == 0) {
			return o.undelivered(err)
		}
		if !o.traits.Again {
			o.failed(err, Failed)
			return wrap(o.sink, err)
		}
		if err := o.retry(tries, o.r.log, o.r.cfg.GiveUp, &bo, err); err != nil {
			if o.r.ended() && tries.Err() != nil {
				return o.undelivered(err)
			}
			return err
		}
	}
}

// undeliveredTail is the result of an output whose last session was closed.
func (o *output) undeliveredTail() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return wrap(o.sink, o.tail)
}

// untilLast is the context for attempts: it ends some time after the source's
// end. A session is not bound by it.
func (o *output) untilLast(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-o.r.ending:
		}
		if o.queue.Stats().Queued > 0 {
			sleep(ctx, o.r.cfg.Last)
		}
		for o.isUp() && sleep(ctx, o.r.cfg.Last) {
		}
		cancel()
	}()
	return ctx, cancel
}

// undelivered is the result of an output that was down when the source ended.
func (o *output) undelivered(err error) error {
	if n := o.queue.Stats().Queued; n > 0 && err != nil {
		if errors.Is(err, context.Canceled) {
			err = o.noPeer()
		}
		o.failed(err, Failed)
		o.r.log.Error("media was not delivered", "url", o.sink.URL(), "messages", n, "err", err)
		return wrap(o.sink, err)
	}
	return nil
}

// NoPeerError ends an output that had no peer when the source ended, and none
// within Config.Last after it.
type NoPeerError struct {
	After time.Duration
	Last  error // the last attempt's or session's; may be nil
}

func (e *NoPeerError) Error() string {
	text := fmt.Sprintf("no connection within %v after the end of the source", e.After)
	if e.Last != nil {
		text += "; last: " + e.Last.Error()
	}
	return text
}

func (e *NoPeerError) Unwrap() error { return e.Last }

// Timeout and Temporary make it a net.Error.
func (e *NoPeerError) Timeout() bool   { return true }
func (e *NoPeerError) Temporary() bool { return false }

func (o *output) noPeer() error {
	o.end.mu.Lock()
	defer o.end.mu.Unlock()
	return &NoPeerError{o.r.cfg.Last, o.lastErr}
}

func (o *output) open(ctx context.Context) (endpoint.Sink, error) {
	if o.traits.Listens {
		if !o.isUp() {
			o.setState(Waiting)
		}
	} else {
		o.setState(Connecting)
	}
	ctx, cancel := o.giveUpContext(ctx, o.r.cfg.GiveUp)
	defer cancel()
	return o.sink.OpenSink(ctx)
}
