package udp

import (
	"net/netip"
	"sync"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// maxQueue bounds the datagrams that the portable socket holds for its owner.
const maxQueue = 2048

// queue is the portable socket's bounded queue between Pump and the owner.
type queue struct {
	mu     sync.Mutex
	ring   []dgram.In   // grows up to maxQueue
	head   int          // index of the oldest
	len    int          // datagrams in the ring
	spare  []*dgram.Buf // Bufs that the owner gave in exchange for full ones
	broken error        // why Pump ended

	reads, oversize, dropped uint64
}

// put copies a datagram into the queue; it tells whether the owner must be
// woken, because the queue was empty.
func (q *queue) put(data []byte, from netip.AddrPort, to netip.Addr) (wake bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reads++
	switch {
	case len(data) > dgram.Size:
		q.oversize++
		return false
	case q.len == len(q.ring) && !q.grow():
		q.dropped++
		return false
	}
	b := q.buf()
	b.Reset(copy(b.Mem(), data))
	q.ring[(q.head+q.len)%len(q.ring)] = dgram.In{Buf: b, From: from, To: to}
	q.len++
	return q.len == 1
}

// grow makes the full ring twice as long, up to maxQueue.
func (q *queue) grow() bool {
	if q.len >= maxQueue {
		return false
	}
	ring := make([]dgram.In, min(maxQueue, max(64, 2*q.len)))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
	return true
}

func (q *queue) buf() *dgram.Buf {
	n := len(q.spare)
	if n == 0 {
		return dgram.NewBuf()
	}
	b := q.spare[n-1]
	q.spare[n-1] = nil
	q.spare = q.spare[:n-1]
	return b
}

// take moves datagrams to dst. For every Buf that leaves, one of the owner's
// free ones comes in, so that both sides keep what they need.
func (q *queue) take(c *dgram.Cache, dst []dgram.In) (n int, more bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ; n < len(dst) && q.len > 0; n++ {
		dst[n] = q.ring[q.head]
		q.ring[q.head] = dgram.In{}
		q.head = (q.head + 1) % len(q.ring)
		q.len--
		q.spare = append(q.spare, c.Get())
	}
	if n == 0 && q.len == 0 {
		err = q.broken
	}
	return n, q.len > 0, err
}

// fail ends the queue: the owner gets err once the queue is empty.
func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.broken = err
}
