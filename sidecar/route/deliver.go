package route

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
)

func wrap(e endpoint.End, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", e.URL(), err)
}

func (r *Route) ended() bool {
	select {
	case <-r.ending:
		return true
	default:
		return false
	}
}

// serve gives every caller a session of its own until the source has ended.
func (o *output) serve(ctx context.Context) error {
	accept, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-o.r.ending:
			cancel()
		case <-accept.Done():
		}
	}()
	var wg sync.WaitGroup
	defer wg.Wait()
	var bo backOff
	for {
		sink, err := o.open(accept)
		if accept.Err() != nil {
			if err == nil {
				sink.Abort()
			}
			return nil
		}
		if err == nil {
			bo.after(steady)
			if o.full(sink) {
				continue
			}
			queue := o.join()
			wg.Go(func() {
				defer o.r.fan.leave()
				_ = o.deliver(ctx, sink, queue) // it has said why
			})
			continue
		}
		late := errors.Is(err, endpoint.ErrNoCaller) || o.r.cfg.GiveUp > 0 && errors.Is(err, context.DeadlineExceeded)
		if o.isUp() && late {
			continue
		}
		if err := o.retry(accept, o.r.log, o.r.cfg.GiveUp, &bo, err); err != nil {
			if accept.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// full turns a caller away if there are as many as may be.
func (o *output) full(sink endpoint.Sink) bool {
	limit := o.r.cfg.MaxPlayers
	if o.r.fan.admit(limit) {
		return false
	}
	sink.Abort()
	who := ""
	if p, ok := sink.(peerer); ok {
		who = p.Peer()
	}
	o.r.log.Warn("caller turned away: max-players", "url", o.sink.URL(), "peer", who, "limit", limit)
	o.r.event(Event{Level: Warn, Kind: "refused", Text: fmt.Sprintf("%s turned away: %d players are there, as many as max-players allows", who, limit)})
	return true
}

// deliver carries the queue into one session until the source's end, which is
// nil, or the session's.
func (o *output) deliver(ctx context.Context, sink endpoint.Sink, queue *hub.Reader) error {
	s := newSession(sink, queue)
	s.own = queue != o.queue
	own := s.context(ctx) // before anybody can find the session
	if t, ok := sink.(unhurried); ok && o.r.traits().Patience != 0 {
		t.TakeTime(o.r.traits().Patience < 0)
	}
	o.dropStale(queue)
	o.begin(s)
	o.markSeen()
	o.tellRoom()
	o.r.log.Info("output up", about(o.sink, s, nil)...)
	came, went := o.words(false)
	o.r.sessionEvent(o.end, s, came, nil)
	stop := context.AfterFunc(ctx, sink.Abort)
	err := o.copy(own, sink, queue)
	if errors.Is(err, io.EOF) {
		err = nil
		o.closed(sink.Close())
	} else {
		err = s.reason(err)
		sink.Abort()
	}
	stop()
	s.end()
	if s.own {
		queue.Leave()
	}
	o.warnDrops(s)
	o.finish(s, err)
	o.tellRoom()
	o.r.sessionEvent(o.end, s, went, err)
	o.r.log.Info("output ended", append(about(o.sink, s, err), "dropped", queue.Stats().Dropped)...)
	return err
}

// warnDrops tells what the connection itself dropped: nobody else would.
func (o *output) warnDrops(s *session) {
	c, ok := s.of.(statter)
	if !ok {
		return
	}
	if n := c.SRTStats().PktSndDropTotal; n > 0 {
		o.mu.Lock()
		o.tooLate += n
		o.mu.Unlock()
		o.r.log.Warn("the link was too slow: packets were dropped as too late", "url", o.sink.URL(), "peer", s.peer(), "packets", n)
	}
}

// closed notes what a graceful close could not deliver.
func (o *output) closed(err error) {
	if err == nil {
		return
	}
	o.r.log.Warn("the tail was not delivered", "url", o.sink.URL(), "err", err)
	o.mu.Lock()
	o.tail = err
	o.mu.Unlock()
}

// dropStale drops what live media has outlived while the output was down. A
// source that waits for its outputs, or has ended, loses nothing.
func (o *output) dropStale(queue *hub.Reader) {
	if o.r.traits().Patience < 0 || o.r.ended() {
		return
	}
	o.end.mu.Lock()
	first := o.opened == 0
	o.end.mu.Unlock()
	age := o.r.cfg.MaxAge
	if first {
		age = max(age, o.r.cfg.Last)
	}
	queue.DropBefore(time.Now().Add(-age))
}

func (o *output) copy(ctx context.Context, sink endpoint.Sink, queue *hub.Reader) error {
	// A file gains nothing by it, and its pace is found in batches.
	if t, ok := sink.(tryWriter); ok && o.r.traits().Patience >= 0 {
		queue.Direct(t.TryWrite)
		defer queue.Direct(nil)
	}
	batch := batchSize
	if o.r.traits().Patience != 0 {
		batch = patientBatch
	}
	payloads := make([]*hub.Payload, batch)
	msgs := make([][]byte, 0, batch)
	for {
		n, err := queue.Next(ctx, payloads)
		if err != nil {
			return err
		}
		msgs = msgs[:0]
		for _, p := range payloads[:n] {
			msgs = append(msgs, p.Bytes())
		}
		if err := sink.WriteBatch(msgs); err != nil {
			queue.Lost(payloads[:n])
			return err
		}
		for _, p := range payloads[:n] {
			p.Release()
		}
	}
}
