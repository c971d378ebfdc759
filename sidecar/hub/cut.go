package hub

import "time"

// Options are how a reader wants to be treated.
type Options struct {
	// Limit is how many bytes its queue holds at most (at least one message).
	Limit int
	// Room, if not nil, gets a token when the reader has room again; several
	// readers may share it.
	Room chan<- struct{}
	// Cut reports whether a message is one that a decoder can begin with. After a
	// loss such a reader goes on with one. nil: with any.
	Cut func(msg []byte) bool
	// Begin is where in a message a decoder can begin that knows nothing yet; -1: not
	// in this one. A reader that joins in the middle gets nothing before that. nil:
	// it begins with any.
	Begin func(msg []byte) int
	// Within and WithinBytes bound either wait; then it goes on anyway. 0: one second,
	// of the messages' own time, and Limit.
	Within      time.Duration
	WithinBytes int
}

const within = time.Second

// gap is what a reader misses, as long as it waits for a message to go on with.
type gap struct {
	open  bool
	join  bool      // it lies in front of the first message: nothing was lost
	since time.Time // of the first message that could have ended it
	bytes int       // of those that did not
}

// JoinWith adds a reader. It hears what is published from now on.
func (h *Hub) JoinWith(o Options) *Reader {
	if o.Within == 0 {
		o.Within = within
	}
	if o.WithinBytes == 0 {
		o.WithinBytes = o.Limit
	}
	r := &Reader{hub: h, opt: o, ready: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.Begin != nil && h.stats.Messages > 0 {
		r.gap = gap{open: true, join: true}
	}
	h.readers = append(h.readers, r)
	if h.ended {
		r.end()
	}
	return r
}

// seek begins a gap at the front of the queue: what is left there and cannot be
// begun with goes, too.
func (r *Reader) seek() {
	if r.opt.Cut == nil {
		return
	}
	r.gap.open = true
	for r.n > 0 && !r.closes(r.ring[r.head]) {
		r.miss(r.pop())
	}
}

// enter gives a gap's reader what it gets of p: all of it, what is behind the place
// where it can begin, or nothing, and p is released then.
func (r *Reader) enter(p *Payload) *Payload {
	at := 0
	if r.gap.join {
		at = r.opt.Begin(p.b)
	}
	if !r.closes(p) {
		r.miss(p)
		return nil
	}
	if at <= 0 {
		return p
	}
	part := newPayload(p.b[at:], p.at)
	p.Release()
	return part
}

// closes reports whether the reader goes on with p.
func (r *Reader) closes(p *Payload) bool {
	if r.gap.since.IsZero() {
		r.gap.since = p.at
	}
	if !r.canGoOn(p.b) && p.at.Sub(r.gap.since) < r.opt.Within && r.gap.bytes+len(p.b) <= r.opt.WithinBytes {
		return false
	}
	r.gap = gap{}
	return true
}

func (r *Reader) canGoOn(msg []byte) bool {
	if r.gap.join {
		return r.opt.Begin(msg) >= 0
	}
	return r.opt.Cut(msg)
}

// miss counts and releases a message inside the gap.
func (r *Reader) miss(p *Payload) {
	r.gap.bytes += len(p.b)
	if r.gap.join {
		r.stats.Skipped++
		p.Release()
		return
	}
	r.drop(p)
}

// over notes that the queue had no room for a message of this time.
func (r *Reader) over(at time.Time) {
	if r.stats.OverSince.IsZero() {
		r.stats.OverSince = at
	}
	r.lastOver = at
}

// keepsUp is told of what the reader has read. It is over its limit no longer when
// half the queue is free, and that not only because of what was dropped just now.
// A reader that waits for media is not, either.
func (r *Reader) keepsUp(at time.Time) {
	if !r.stats.OverSince.IsZero() && r.hasRoom() && at.Sub(r.lastOver) >= within {
		r.stats.OverSince = time.Time{}
	}
}
