package hub

import (
	"sync"
	"sync/atomic"
	"time"
)

// Payload is one published message, shared by all its readers and read only.
// Everybody who holds it releases it once.
type Payload struct {
	b    []byte
	at   time.Time
	refs atomic.Int32
}

var payloads = sync.Pool{New: func() any { return &Payload{b: make([]byte, 0, 1536)} }}

// newPayload returns a Payload with one hold, its maker's.
func newPayload(msg []byte, at time.Time) *Payload {
	p := payloads.Get().(*Payload)
	p.b = append(p.b[:0], msg...)
	p.at = at
	p.refs.Store(1)
	return p
}

// Bytes is the message; not to be written to, nor kept after Release.
func (p *Payload) Bytes() []byte { return p.b }

// At is when it was published.
func (p *Payload) At() time.Time { return p.at }

// Release gives up one reader's hold.
func (p *Payload) Release() {
	switch n := p.refs.Add(-1); {
	case n == 0:
		payloads.Put(p)
	case n < 0:
		panic("hub: payload released twice")
	}
}
