// Package hub hands one payload to many readers. The source publishes and
// never waits; each reader has its own bounded queue, loses its own oldest
// payloads when it is slow, and disturbs nobody when it leaves. What is dropped is
// whole messages; where it may go on after that, the reader says (Options.Cut),
// as it does where it may begin (Options.Begin).
//
// Lives here: Hub, Reader, Payload. May import: sync, context, time.
// Never: srtcore, endpoint, mpegts, net, reading a clock, a goroutine.
package hub

import (
	"slices"
	"sync"
	"time"
)

// Hub is the one source's side.
type Hub struct {
	mu      sync.Mutex
	readers []*Reader
	ended   bool
	stats   Stats
	one     [1][]byte // Publish's
}

// Stats is what passed a Hub.
type Stats struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	Unheard  uint64 `json:"unheard"` // messages published while nobody read
}

// New returns an empty Hub.
func New() *Hub { return &Hub{} }

// Offer publishes the first of msgs that a lone reader takes without its queue,
// and returns how many. More readers may not agree on a number.
func (h *Hub) Offer(msgs [][]byte, at time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended || len(h.readers) != 1 {
		return 0
	}
	n := h.readers[0].pass(msgs, at)
	h.stats.Messages += uint64(n)
	for _, m := range msgs[:n] {
		h.stats.Bytes += uint64(len(m))
	}
	return n
}

// Publish hands msg to the readers that take it at once, and copies it once and
// queues it for all others. It never blocks.
func (h *Hub) Publish(msg []byte, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.stats.Messages++
	h.stats.Bytes += uint64(len(msg))
	if len(h.readers) == 0 {
		h.stats.Unheard++
		return
	}
	h.one[0] = msg
	defer func() { h.one[0] = nil }()
	var p *Payload
	for _, r := range h.readers {
		if r.pass(h.one[:], at) == 1 {
			continue
		}
		if p == nil {
			p = newPayload(msg, at)
		}
		p.refs.Add(1)
		r.push(p)
	}
	if p != nil {
		p.Release()
	}
}

// End says that nothing more comes; readers get io.EOF after their rest.
func (h *Hub) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for _, r := range h.readers {
		r.end()
	}
}

// Join is JoinWith for a reader that needs no cut points.
func (h *Hub) Join(limit int, room chan<- struct{}) *Reader {
	return h.JoinWith(Options{Limit: limit, Room: room})
}

func (h *Hub) leave(r *Reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.readers, r); i >= 0 {
		h.readers = slices.Delete(h.readers, i, i+1)
	}
}

// Stats returns the counters.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stats
}
