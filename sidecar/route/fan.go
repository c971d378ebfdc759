package route

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// fan is the outputs of a route. They come and go while it runs; those that
// went are remembered in no total but the hub's.
type fan struct {
	r *Route

	mu      sync.Mutex
	outputs []*output       // never written to, only replaced
	playing int             // callers of listening outputs
	ctx     context.Context // of Run; nil before
	starve  func()          // stops the source: nobody is left to read for
	ended   bool            // no more outputs are added
	live    int             // running
	done    chan struct{}   // closed when none is, after the end
	came    chan struct{}   // has a token when an output was added
}

func (f *fan) init(r *Route) { f.r, f.done, f.came = r, make(chan struct{}), make(chan struct{}, 1) }

// add appends an output that runs when the route does.
func (f *fan) add(id string, e endpoint.SinkEnd) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.ended:
		return ErrEnded
	case slices.ContainsFunc(f.outputs, func(o *output) bool { return o.id == id }):
		return fmt.Errorf("output %q: %w", id, ErrExists)
	}
	o := newOutput(f.r, e)
	o.id = id
	f.outputs = append(slices.Clip(f.outputs), o)
	if f.ctx != nil {
		f.start(o)
	}
	select {
	case f.came <- struct{}{}:
	default:
	}
	return nil
}

// run starts the outputs. starve is called when the last one has failed, unless
// the route is a standing one.
func (f *fan) run(ctx context.Context, starve func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx, f.starve = ctx, starve
	for _, o := range f.outputs {
		f.start(o)
	}
}

// start is called with the lock held.
func (f *fan) start(o *output) {
	ctx, cancel := context.WithCancel(f.ctx)
	o.cancel = cancel
	f.live++
	go func() {
		defer cancel()
		o.run(ctx)
		f.mu.Lock()
		defer f.mu.Unlock()
		close(o.ended)
		f.live--
		if f.live > 0 {
			return
		}
		if f.ended {
			close(f.done)
		} else if !f.r.cfg.Standing {
			f.starve()
		}
	}()
}

// end takes no more outputs; the channel is closed when all have ended.
func (f *fan) end() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	if f.live == 0 {
		close(f.done)
	}
	return f.done
}

func (f *fan) list() []*output {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outputs
}

// take removes the output with this id from the list, or returns nil.
func (f *fan) take(id string) *output {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.outputs, func(o *output) bool { return o.id == id })
	if i < 0 {
		return nil
	}
	o := f.outputs[i]
	f.outputs = slices.Delete(slices.Clone(f.outputs), i, i+1)
	return o
}

// admit counts a caller of a listening output, unless there are limit of them.
func (f *fan) admit(limit int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if limit > 0 && f.playing >= limit {
		return false
	}
	f.playing++
	return true
}

// leave is admit's counterpart.
func (f *fan) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.playing--
}

// What AddOutput fails with, besides an address that cannot be had.
var (
	ErrEnded  = errors.New("the route has ended")
	ErrExists = errors.New("there is one with this id")
)

// AddOutput adds an output under an id that no other one has. An address that is
// taken is an error, and nothing was added. e stays the caller's with any error.
func (r *Route) AddOutput(id string, e endpoint.SinkEnd) error {
	if r.ended() {
		return ErrEnded
	}
	if err := r.claim(context.Background(), e); err != nil {
		return err
	}
	return r.fan.add(id, e)
}

// HasOutput reports whether there is an output with this id.
func (r *Route) HasOutput(id string) bool {
	return slices.ContainsFunc(r.fan.list(), func(o *output) bool { return o.id == id })
}

// RemoveOutput ends one output and leaves the others alone; false: there is none
// with this id.
func (r *Route) RemoveOutput(id string) bool {
	o := r.fan.take(id)
	if o == nil {
		return false
	}
	o.drop()
	return true
}

// drop ends the output's sessions and gives its address back.
func (o *output) drop() {
	switch {
	case o.cancel != nil:
		o.cancel()
		<-o.ended
	case o.queue != nil: // it never ran
		o.queue.Leave()
	}
	o.face.Close()
}
