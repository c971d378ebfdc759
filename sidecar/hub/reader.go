package hub

import (
	"context"
	"io"
	"sync"
	"time"
)

// Reader is one reader's queue. Next, Lost and Leave belong to the reader; Full
// and HasRoom to a source that chooses to be patient with it.
type Reader struct {
	hub *Hub
	opt Options

	mu    sync.Mutex
	ring  []*Payload // a circle of a power of two
	head  int
	n     int
	bytes int
	out   int // handed out by the last Next: read once the next one is asked for
	ended bool
	left  bool
	stats ReaderStats

	gap      gap
	lastOver time.Time // when the queue was too small last

	direct func(msgs [][]byte, at time.Time) int // takes messages without the queue; may be nil
	idle   bool                                  // Next waits: nothing of the queue is on its way

	ready chan struct{} // something to read, or the end
}

// ReaderStats is what one reader got and lost. Read and the Dropped never go
// down; what Next has handed out last counts as neither yet.
type ReaderStats struct {
	Read         uint64 `json:"read"`
	Dropped      uint64 `json:"dropped"`
	DroppedBytes uint64 `json:"droppedBytes"`
	Queued       int    `json:"queued"`
	QueuedBytes  int    `json:"queuedBytes"`
	// Skipped came before the message that a reader which joined began with.
	Skipped uint64 `json:"skipped,omitempty"`
	// OverSince is since when the reader has been over its limit; absent: it is
	// not.
	OverSince time.Time `json:"overSince,omitzero"`
}

// Direct has messages go to try instead of the queue while Next waits and the
// queue is empty: the publisher's goroutine does the reader's work, and none
// has to be woken. try takes the first n and must not wait nor keep them; the
// others are queued. nil ends that; after Direct returns, no earlier try is
// running.
func (r *Reader) Direct(try func(msgs [][]byte, at time.Time) (n int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.direct, r.idle = try, false
}

func (r *Reader) pass(msgs [][]byte, at time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.direct == nil || !r.idle || r.n > 0 || r.left || r.gap.open {
		return 0
	}
	n := r.direct(msgs, at)
	r.stats.Read += uint64(n)
	return n
}

func (r *Reader) push(p *Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n > 0 && r.bytes+len(p.b) > r.opt.Limit {
		r.makeRoom(p)
	}
	if r.gap.open {
		if p = r.enter(p); p == nil {
			return
		}
	}
	if r.n == len(r.ring) {
		r.grow()
	}
	r.ring[(r.head+r.n)&(len(r.ring)-1)] = p
	r.n++
	r.bytes += len(p.b)
	signal(r.ready)
}

func (r *Reader) grow() {
	ring := make([]*Payload, max(16, 2*len(r.ring)))
	for i := range r.n {
		ring[i] = r.ring[(r.head+i)&(len(r.ring)-1)]
	}
	r.ring, r.head = ring, 0
}

func (r *Reader) pop() *Payload {
	p := r.ring[r.head]
	r.ring[r.head] = nil
	r.head = (r.head + 1) & (len(r.ring) - 1)
	r.n--
	r.bytes -= len(p.b)
	return p
}

// makeRoom drops the oldest messages until there is room for p, and then those up
// to the next cut point.
func (r *Reader) makeRoom(p *Payload) {
	for r.n > 0 && r.bytes+len(p.b) > r.opt.Limit {
		r.dropOldest()
	}
	r.over(p.at)
	r.seek()
}

func (r *Reader) dropOldest() { r.drop(r.pop()) }

// drop counts and releases a message that was lost.
func (r *Reader) drop(p *Payload) {
	r.stats.Dropped++
	r.stats.DroppedBytes += uint64(len(p.b))
	p.Release()
}

func (r *Reader) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	signal(r.ready)
}

// Next waits for the first payload, then fills dst with what is there. The
// caller releases each. After the end of the source and the last payload it
// returns io.EOF.
func (r *Reader) Next(ctx context.Context, dst []*Payload) (int, error) {
	for {
		if n, err := r.tryNext(dst); n > 0 || err != nil {
			return n, err
		}
		select {
		case <-r.ready:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (r *Reader) tryNext(dst []*Payload) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	r.idle = false
	r.stats.Read += uint64(r.out)
	r.out = 0
	for n < len(dst) && r.n > 0 {
		dst[n] = r.pop()
		n++
	}
	r.out = n
	if n > 0 {
		r.keepsUp(dst[n-1].at)
		r.tellRoom()
		return n, nil
	}
	if r.ended || r.left {
		return 0, io.EOF
	}
	if !r.gap.open {
		r.stats.OverSince = time.Time{}
	}
	r.idle = true
	return 0, nil
}

func (r *Reader) tellRoom() {
	if r.hasRoom() {
		signal(r.opt.Room)
	}
}

func (r *Reader) hasRoom() bool { return r.bytes <= r.opt.Limit/2 || r.left }

// HasRoom reports whether half the queue is free: a source that has waited gets
// to publish more than one message.
func (r *Reader) HasRoom() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hasRoom()
}

// DropBefore drops, and counts, what was published before t: after a pause
// live media is of no use any more.
func (r *Reader) DropBefore(t time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == 0 || !r.ring[r.head].at.Before(t) {
		return 0
	}
	before := r.n
	for r.n > 0 && r.ring[r.head].at.Before(t) {
		r.dropOldest()
	}
	r.seek()
	r.tellRoom()
	return before - r.n
}

// Full reports whether one more message of n bytes would cost the oldest.
func (r *Reader) Full(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes+n > r.opt.Limit && !r.left
}

// Lost releases payloads that the last Next has handed out and that could not be
// sent any more, and counts them as dropped instead of read.
func (r *Reader) Lost(payloads []*Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(payloads) == 0 {
		return
	}
	for _, p := range payloads {
		r.out--
		r.drop(p)
	}
	r.seek()
}

// Leave ends the reading. What is queued is dropped, and counted.
func (r *Reader) Leave() {
	r.hub.leave(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.n > 0 {
		r.dropOldest()
	}
	r.left = true
	signal(r.ready)
	signal(r.opt.Room)
}

// Stats returns the counters.
func (r *Reader) Stats() ReaderStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Queued, s.QueuedBytes = r.n, r.bytes
	return s
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
