package loop

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
)

// inboxMax bounds the messages that wait for a reader outside the engine; what
// is beyond stays in the engine's receiver buffer, where it counts for the
// advertised window.
const inboxMax = 256

// spentMax is the number of read Bufs that go back to the Pool at once.
const spentMax = 32

// inbox carries messages from the loop to the readers of one connection.
type inbox struct {
	pool   *dgram.Pool
	queued atomic.Int32 // messages in the ring; only the loop adds

	mu      sync.Mutex
	ring    ring[engine.Message]
	spent   []*dgram.Buf // read, on their way back to the pool
	sig     signal
	starved bool  // the loop left messages behind for want of room
	end     error // why nothing more comes; nil while something may
	closed  bool  // closed by this side: what comes is dropped
}

// room is the number of messages that put takes now. The loop alone asks.
func (q *inbox) room() int { return inboxMax - int(q.queued.Load()) }

// put moves msgs in, of which there are at most room. It returns whether a
// reader waits for them, and false for taken if the inbox is closed.
func (q *inbox) put(msgs []engine.Message) (waiting, taken bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, false
	}
	for i := range msgs {
		q.ring.push(msgs[i])
	}
	q.queued.Store(int32(q.ring.n))
	return q.sig.waiters > 0, true
}

// wake wakes a reader.
func (q *inbox) wake() {
	q.mu.Lock()
	q.sig.raise()
	q.mu.Unlock()
}

// starve notes that the engine holds messages that found no room; it returns
// false if room has appeared meanwhile.
func (q *inbox) starve() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.starved = q.ring.n > inboxMax/2
	return q.starved
}

// fed reports, once, that a starved inbox is half empty again. The lock is held.
func (q *inbox) fed() bool {
	if !q.starved || q.ring.n > inboxMax/2 {
		return false
	}
	q.starved = false
	return true
}

// Received describes a message that was read.
type Received struct {
	Seq    seq.Number
	Source mono.Time
}

// read copies the oldest message into b. With too little room in b the message
// stays and the error is io.ErrShortBuffer; with no message it is errAgain or
// the end. hungry asks the caller to announce the connection to its loop.
func (q *inbox) read(b []byte) (n int, r Received, hungry bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ring.n == 0 {
		return 0, r, false, q.empty()
	}
	n, r, err = q.copyOut(b)
	hungry = q.settle()
	return n, r, hungry, err
}

// readBatch fills b[i] with messages, as many as there are; a message that does
// not fit ends the batch, and is an error when it is the first.
func (q *inbox) readBatch(b [][]byte) (n int, hungry bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ring.n == 0 {
		return 0, false, q.empty()
	}
	for n < len(b) && q.ring.n > 0 {
		m, _, err := q.copyOut(b[n][:cap(b[n])])
		if err != nil {
			if n == 0 {
				return 0, q.settle(), err
			}
			break
		}
		b[n] = b[n][:m]
		n++
	}
	return n, q.settle(), nil
}

// lend moves up to len(b) messages out; they come back with the pool's PutN.
func (q *inbox) lend(b []engine.Message) (n int, hungry bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ring.n == 0 {
		return 0, false, q.empty()
	}
	for n < len(b) && q.ring.n > 0 {
		b[n] = q.ring.pop()
		n++
	}
	return n, q.settle(), nil
}

// empty says why there is nothing: not yet, or never more.
func (q *inbox) empty() error {
	if q.end == nil {
		return errAgain
	}
	q.sig.raise() // the end is for every reader
	return q.end
}

func (q *inbox) copyOut(b []byte) (int, Received, error) {
	m := q.ring.at(0)
	p := m.Buf.Payload()
	if len(p) > len(b) {
		return 0, Received{}, io.ErrShortBuffer
	}
	n, r := copy(b, p), Received{Seq: m.Seq, Source: m.Source}
	q.spent = append(q.spent, m.Buf)
	if len(q.spent) == spentMax {
		q.giveBack()
	}
	q.ring.pop()
	return n, r, nil
}

// settle follows a read: counts, the next reader, memory.
func (q *inbox) settle() (hungry bool) {
	q.queued.Store(int32(q.ring.n))
	if q.ring.n > 0 || q.end != nil {
		q.sig.raise()
	}
	if q.ring.n == 0 {
		q.giveBack()
	}
	return q.fed()
}

func (q *inbox) giveBack() {
	q.pool.PutN(q.spent)
	clear(q.spent)
	q.spent = q.spent[:0]
}

// arm registers a reader that is about to wait; false: there is something to
// read, or an end.
func (q *inbox) arm() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ring.n > 0 || q.end != nil {
		return false
	}
	q.sig.waiters++
	return true
}

func (q *inbox) disarm() {
	q.mu.Lock()
	q.sig.waiters--
	q.mu.Unlock()
}

// ready reports whether read would not say errAgain.
func (q *inbox) ready() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ring.n > 0 || q.end != nil
}

// finish says that nothing more comes; the first reason stays.
func (q *inbox) finish(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.end == nil {
		q.end = err
	}
	q.sig.raise()
}

// close drops what is unread and whatever still comes.
func (q *inbox) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.end = true, err
	for q.ring.n > 0 {
		q.spent = append(q.spent, q.ring.pop().Buf)
	}
	q.queued.Store(0)
	q.giveBack()
	q.ring = ring[engine.Message]{}
	q.sig.raise()
}
