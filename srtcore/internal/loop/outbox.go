package loop

import (
	"sync"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// outboxMax bounds the messages that wait for the loop to come by; beyond, and
// beyond the engine's sender buffer behind it, a writer waits.
const outboxMax = 1024

// parcel is a message on its way to the engine.
type parcel struct {
	buf    *dgram.Buf
	origin mono.Time
}

// outbox carries messages from the writers of one connection to its loop. What
// put touches comes first: between its writers and a loop on another CPU, each
// cache line costs a fetch.
type outbox struct {
	mu     sync.Mutex
	ring   ring[parcel]
	max    int32
	posted bool // announced to the loop, which has not emptied it since
	over   bool // nothing more is taken; end says why
	end    error
	sig    signal
}

// put moves parcels in, as many as there is room for. announce asks the caller
// to announce the connection; the error is errAgain when nothing fitted.
func (q *outbox) put(ps []parcel) (n int, announce bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return 0, false, q.end
	}
	for n < len(ps) && q.ring.n < int(q.max) {
		q.ring.push(ps[n])
		n++
	}
	if n == 0 {
		return 0, false, errAgain
	}
	announce = !q.posted
	q.posted = true
	return n, announce, nil
}

// take appends at most room parcels to dst and wakes a writer. left reports
// whether more are waiting; if not, the next put announces again.
func (q *outbox) take(dst []parcel, room int) (out []parcel, left bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for room > 0 && q.ring.n > 0 {
		dst = append(dst, q.ring.pop())
		room--
	}
	if q.ring.n < int(q.max) {
		q.sig.raise()
	}
	q.posted = q.ring.n > 0
	return dst, q.posted
}

// untake puts parcels back that take has just given, in front.
func (q *outbox) untake(ps []parcel) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := len(ps) - 1; i >= 0; i-- {
		q.ring.unpop(ps[i])
	}
	q.posted = true
}

// wake wakes a writer.
func (q *outbox) wake() {
	q.mu.Lock()
	q.sig.raise()
	q.mu.Unlock()
}

func (q *outbox) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ring.n
}

// arm registers a writer that is about to wait; false: there is room, or an end.
func (q *outbox) arm() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ring.n < int(q.max) || q.over {
		return false
	}
	q.sig.waiters++
	return true
}

// disarm ends the wait and hands the signal on if there is still room.
func (q *outbox) disarm() {
	q.mu.Lock()
	q.sig.waiters--
	if q.ring.n < int(q.max) || q.over {
		q.sig.raise()
	}
	q.mu.Unlock()
}

// finish refuses whatever comes; what is inside stays for the loop.
func (q *outbox) finish(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.over, q.end = true, err
	}
	q.sig.raise()
}

// drop empties the outbox into dst.
func (q *outbox) drop(put func(*dgram.Buf)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.ring.n > 0 {
		put(q.ring.pop().buf)
	}
}
