package ingest

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// joinedBody is the bodies of consecutive PUTs as one stream. Between two it
// waits for the next, for a while. The route that reads it has one goroutine.
type joinedBody struct {
	linger time.Duration
	log    *slog.Logger
	idle   func(bool) // told when a piece has ended, and when the next has come; may be nil

	reading *piece // the reader's alone; nil: it needs the next

	closed chan struct{}
	hurry  chan struct{} // closed: wait no longer for a next one
	next   chan *piece

	mu      sync.Mutex
	now     *piece // being read, or about to be; nil: between two
	waiting bool   // for the next
	over    bool   // no more are taken
	pos     int64  // offset of the next byte, for pieces that say theirs
	hurried bool
	shut    bool
}

func newJoinedBody(first *piece, linger time.Duration, log *slog.Logger) *joinedBody {
	b := &joinedBody{
		linger: linger, log: log, reading: first, now: first, pos: max(0, first.start),
		closed: make(chan struct{}), hurry: make(chan struct{}), next: make(chan *piece, 1),
	}
	first.feed(true)
	return b
}

// offer hands the next piece over, if it is being waited for.
func (b *joinedBody) offer(p *piece) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waiting {
		return false
	}
	b.waiting = false
	b.place(p)
	b.now = p
	b.next <- p
	return true
}

// place compares where a piece says that it begins with where the last one ended.
func (b *joinedBody) place(p *piece) {
	switch {
	case p.start <= 0: // it says nothing, or its client begins anew
		b.pos = 0
	case p.start < b.pos: // of one that was broken off, once more
		p.skip = b.pos - p.start
		b.log.Info("PUT repeats what is here already", "begins", p.start, "skipped", p.skip)
		b.pos = p.start
	case p.start > b.pos:
		b.log.Warn("PUT leaves a gap", "begins", p.start, "last-ended", b.pos)
		b.pos = p.start
	}
}

// Read implements io.Reader. The end of a piece is told with the Read after it:
// its bytes are on their way by then.
func (b *joinedBody) Read(dst []byte) (int, error) {
	for {
		if b.reading == nil {
			if b.reading = b.await(); b.reading == nil {
				return 0, io.EOF
			}
			b.reading.feed(true)
		}
		p := b.reading
		if p.err == nil {
			n, err := p.read(dst)
			p.err = err
			b.advance(n)
			if n = p.cut(dst, n); n > 0 {
				return n, nil
			}
			if err == nil {
				continue
			}
		}
		if !b.finish(p) {
			return 0, io.EOF
		}
	}
}

func (b *joinedBody) advance(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pos += int64(n)
}

// finish ends a piece, whose request may be answered, and reports whether another
// may follow.
func (b *joinedBody) finish(p *piece) (more bool) {
	p.feed(false)
	b.reading = nil
	b.mu.Lock()
	b.now = nil
	b.pos += p.skip // it was shorter than what it repeats
	p.last = p.last || b.shut
	b.over = b.over || p.last
	b.waiting = !b.over
	more = b.waiting
	b.mu.Unlock()
	if b.idle != nil {
		b.idle(true)
	}
	close(p.taken)
	return more
}

// await is the next piece, or nil when none is to come any more.
func (b *joinedBody) await() *piece {
	t := time.NewTimer(b.linger)
	defer t.Stop()
	var p *piece
	select {
	case p = <-b.next:
	case <-t.C:
	case <-b.hurry:
	case <-b.closed:
	}
	b.mu.Lock()
	b.waiting = false
	switch {
	case p != nil:
	case b.now != nil: // offered in this very moment
		p = <-b.next
	default:
		b.over = true
	}
	b.mu.Unlock()
	if p != nil && b.idle != nil {
		b.idle(false)
	}
	return p
}

// finishSoon ends the stream if it is between two pieces, and reports whether it
// is.
func (b *joinedBody) finishSoon() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil {
		return false
	}
	if !b.hurried {
		b.hurried, b.waiting = true, false
		close(b.hurry)
	}
	return true
}

// Close implements io.Closer: it unblocks Read.
func (b *joinedBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.shut {
		b.shut, b.waiting = true, false
		close(b.closed)
	}
	if b.now != nil {
		b.now.interrupt()
	}
	return nil
}

// Arrived is when the bytes that Read returned last had come; zero: not known.
// It is the reader's to ask.
func (b *joinedBody) Arrived() time.Time {
	if p := b.reading; p != nil && p.conn != nil {
		return p.conn.Arrived()
	}
	return time.Time{}
}
