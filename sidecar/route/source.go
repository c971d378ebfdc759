package route

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
)

const batchSize = 64

// runSource reads session after session into the hub. It returns nil at the
// proper end and when told to stop.
func (r *Route) runSource(ctx context.Context) error {
	r.awaitOutputs(ctx, r.source.traits.StartWait)
	var bo backOff
	for ctx.Err() == nil {
		src, err := r.openSource(ctx)
		if ctx.Err() != nil {
			if err == nil {
				src.Close()
			}
			break
		}
		if err != nil {
			if err = r.sourceFailed(ctx, &bo, err); err != nil {
				return err
			}
			continue
		}
		begun := time.Now()
		err = r.pump(ctx, src)
		if ctx.Err() != nil {
			break
		}
		if !r.source.traits.Again {
			return r.sourceEnded(err)
		}
		bo.after(time.Since(begun))
		if !r.source.traits.Listens && !sleep(ctx, bo.next(0)) {
			break
		}
	}
	r.source.setState(Done)
	return nil
}

func (r *Route) openSource(ctx context.Context) (endpoint.Source, error) {
	if r.source.traits.Listens {
		r.source.setState(Waiting)
	} else {
		r.source.setState(Connecting)
	}
	ctx, cancel := r.source.giveUpContext(ctx, r.cfg.GiveUp)
	defer cancel()
	return r.cfg.Source.OpenSource(ctx)
}

func (r *Route) sourceFailed(ctx context.Context, bo *backOff, err error) error {
	if !r.source.traits.Again {
		r.source.failed(err, Failed)
		return fmt.Errorf("%s: %w", r.cfg.Source.URL(), err)
	}
	err = r.source.retry(ctx, r.log, r.cfg.GiveUp, bo, err)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *Route) sourceEnded(err error) error {
	if err == nil {
		r.source.setState(Done)
		return nil
	}
	r.source.failed(err, Failed)
	return fmt.Errorf("%s: %w", r.cfg.Source.URL(), err)
}

// pump reads one session to its end; nil is the proper end.
func (r *Route) pump(ctx context.Context, src endpoint.Source) error {
	s := newSession(src, nil)
	r.source.begin(s)
	r.log.Info("source up", about(r.cfg.Source, s, nil)...)
	stop := context.AfterFunc(ctx, func() { src.Close() })
	err := r.read(ctx, src)
	stop()
	src.Close()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	r.source.finish(s, err)
	if ctx.Err() == nil {
		r.log.Info("source ended", about(r.cfg.Source, s, err)...)
	}
	return err
}

func (r *Route) read(ctx context.Context, src endpoint.Source) error {
	if p, ok := src.(endpoint.Pusher); ok {
		return p.Push(func(msgs [][]byte, at time.Time) { r.publish(ctx, msgs, at) })
	}
	msgs := make([][]byte, batchSize)
	for {
		n, err := src.ReadBatch(msgs)
		r.publish(ctx, msgs[:n], time.Now())
		if err != nil {
			return err
		}
	}
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
	for _, o := range r.outputs {
		select {
		case <-o.seen:
		case <-ctx.Done():
			return
		}
	}
}
