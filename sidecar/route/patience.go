package route

import (
	"context"
	"time"

	"github.com/weirline/weirline/sidecar/hub"
)

// patientBatch is how many messages an output takes at once from a source that
// waits for it: few, so that even a slow link is seen to move.
const patientBatch = 8

// bePatient holds a source up that can be held up, while an output that is up
// has no room for a message of n bytes.
func (r *Route) bePatient(ctx context.Context, n int) {
	p := r.traits().Patience
	if p == 0 {
		return
	}
	if p < 0 && r.cfg.Standing {
		r.untilOutput(ctx)
	}
	for _, o := range r.fan.list() {
		o.waitRoom(ctx, n, p)
	}
}

// untilOutput holds a file up that nobody would hear: outputs can be added yet.
func (r *Route) untilOutput(ctx context.Context) {
	for len(r.fan.list()) == 0 {
		select {
		case <-r.fan.came:
		case <-ctx.Done():
			return
		}
	}
}

// waitRoom holds the source up while this output has no room: while it is up
// and goes on taking something every d, or, if d is negative, as long as it
// takes. At a listening output the fastest caller sets the pace.
func (o *output) waitRoom(ctx context.Context, n int, d time.Duration) {
	switch {
	case o.over.Load() || o.anyQueue(func(q *hub.Reader) bool { return !q.Full(n) }):
		o.stalled = false
	case o.stalled, d > 0 && !o.isUp():
	default:
		o.stalled = !o.untilRoom(ctx, d)
	}
}

func (o *output) untilRoom(ctx context.Context, d time.Duration) bool {
	var idle <-chan time.Time
	if d > 0 {
		t := time.NewTicker(d)
		defer t.Stop()
		idle = t.C
	}
	taken := o.queueStats().Read
	for !o.over.Load() && !o.anyQueue((*hub.Reader).HasRoom) {
		select {
		case <-o.room:
		case <-idle:
			before := taken
			if taken = o.queueStats().Read; taken == before {
				return false
			}
		case <-ctx.Done():
			return false
		}
		if d > 0 && !o.isUp() {
			return false
		}
	}
	return true
}

// tellRoom makes a waiting source look again.
func (o *output) tellRoom() {
	select {
	case o.room <- struct{}{}:
	default:
	}
}

// anyQueue reports whether ok holds for a queue of this output.
func (o *output) anyQueue(ok func(*hub.Reader) bool) bool {
	if o.queue != nil {
		return ok(o.queue)
	}
	o.end.mu.Lock()
	defer o.end.mu.Unlock()
	for s := range o.sessions {
		if ok(s.queue) {
			return true
		}
	}
	return false
}

// queueStats are those of all sessions, past ones included.
func (o *output) queueStats() hub.ReaderStats {
	if o.queue != nil {
		return o.queue.Stats()
	}
	o.end.mu.Lock()
	defer o.end.mu.Unlock()
	sum := o.gone
	for c := range o.sessions {
		sum = plus(sum, c.queue.Stats())
	}
	return sum
}

func plus(a, b hub.ReaderStats) hub.ReaderStats {
	a.Read += b.Read
	a.Dropped += b.Dropped
	a.Skipped += b.Skipped
	a.DroppedBytes += b.DroppedBytes
	a.Queued += b.Queued
	a.QueuedBytes += b.QueuedBytes
	return a
}
