package hub

import (
	"context"
	"io"
	"sync"
	"time"
)

// Reader is one reader's queue. Next and Leave belong to the reader; WaitRoom
// to a source that chooses to be patient with it.
type Reader struct {
	hub   *Hub
	limit int

	mu    sync.Mutex
	ring  []*Payload // a circle of a power of two
	head  int
	n     int
	bytes int
	ended bool
	left  bool
	stats ReaderStats

	ready chan struct{} // something to read, or the end
	room  chan struct{} // room again, or nobody left to wait for
}

// ReaderStats is what one reader got and lost.
type ReaderStats struct {
	Read         uint64 `json:"read"`
	Dropped      uint64 `json:"dropped"`
	DroppedBytes uint64 `json:"droppedBytes"`
	Queued       int    `json:"queued"`
	QueuedBytes  int    `json:"queuedBytes"`
}

func (r *Reader) push(p *Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.n > 0 && r.bytes+len(p.b) > r.limit {
		r.dropOldest()
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

func (r *Reader) dropOldest() {
	p := r.pop()
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
	for n < len(dst) && r.n > 0 {
		dst[n] = r.pop()
		n++
	}
	r.stats.Read += uint64(n)
	if n > 0 {
		r.tellRoom()
		return n, nil
	}
	if r.ended || r.left {
		return 0, io.EOF
	}
	return 0, nil
}

func (r *Reader) tellRoom() {
	if r.hasRoom() {
		signal(r.room)
	}
}

// hasRoom leaves half the queue free, so that a waiting source gets to publish
// more than one message a wake-up.
func (r *Reader) hasRoom() bool { return r.bytes <= r.limit/2 || r.left }

// DropBefore drops, and counts, what was published before t: after a pause
// live media is of no use any more.
func (r *Reader) DropBefore(t time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for r.n > 0 && r.ring[r.head].at.Before(t) {
		r.dropOldest()
		n++
	}
	if n > 0 {
		r.tellRoom()
	}
	return n
}

// Full reports whether one more message of n bytes would cost the oldest.
func (r *Reader) Full(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes+n > r.limit && !r.left
}

// WaitRoom waits until half the queue is free, at most for d (negative: as
// long as it takes), and reports whether it is.
func (r *Reader) WaitRoom(ctx context.Context, d time.Duration) bool {
	var expired <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		expired = t.C
	}
	for {
		r.mu.Lock()
		ok := r.hasRoom()
		r.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-r.room:
		case <-expired:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// Leave ends the reading. What is queued is released, uncounted.
func (r *Reader) Leave() {
	r.hub.leave(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.n > 0 {
		r.pop().Release()
	}
	r.left = true
	signal(r.ready)
	signal(r.room)
}

// Stats returns the counters.
func (r *Reader) Stats() ReaderStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Queued, s.QueuedBytes = r.n, r.bytes
	return s
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
