package loop

import (
	"sync"
	"sync/atomic"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// outboxMax bounds the messages of one connection that wait for the loop to come
// by; beyond, and beyond the engine's sender buffer behind it, a writer waits.
const outboxMax = 1024

// parcel is a message on its way to the engine.
type parcel struct {
	conn   *Conn
	buf    *dgram.Buf
	origin mono.Time
}

// outbox is one connection's share of what waits in its loop's mailbox: how much
// there is and may be, and who waits for room. The messages themselves lie in the
// mailbox, one behind the other: a queue for each connection would cost a writer
// that serves many of them several cold cache lines a message.
type outbox struct {
	queued atomic.Int32 // written, and not yet with the engine
	max    int32
	over   atomic.Bool // nothing more is taken; set with the mailbox locked
	end    error       // why; set before over

	waiting atomic.Int32 // writers that wait for room
	mu      sync.Mutex
	sig     signal
}

// room is the number of messages that may be put now.
func (q *outbox) room() int { return int(q.max - q.queued.Load()) }

// release makes room for n more: the loop has passed them on, or dropped them.
func (q *outbox) release(n int) {
	q.queued.Add(int32(-n))
	if q.waiting.Load() > 0 {
		q.wake()
	}
}

// wake wakes a writer.
func (q *outbox) wake() {
	q.mu.Lock()
	q.sig.raise()
	q.mu.Unlock()
}

// arm registers a writer that is about to wait; false: there is room, or an end.
// It looks after it has registered: who makes some then sees that it waits.
func (q *outbox) arm() bool {
	q.mu.Lock()
	q.sig.waiters++
	q.mu.Unlock()
	q.waiting.Add(1)
	if q.idle() {
		return true
	}
	q.disarm()
	return false
}

// idle: a writer has nothing to try.
func (q *outbox) idle() bool { return q.room() <= 0 && !q.over.Load() }

// disarm ends the wait and hands the signal on if there is still room.
func (q *outbox) disarm() {
	q.waiting.Add(-1)
	q.mu.Lock()
	q.sig.waiters--
	if !q.idle() {
		q.sig.raise()
	}
	q.mu.Unlock()
}
