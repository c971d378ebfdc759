package element

import (
	"math"
	"sync"
	"time"

	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// Sink is srtgosink. Write and Drain belong to one thread; everything else may be
// called by any.
type Sink struct {
	element

	headersMu sync.Mutex
	headers   [][]byte

	written time.Time // last Write that somebody took; for the thread that writes
}

// NewSink returns a sink that is stopped.
func NewSink(h Host, s *props.Settings) *Sink {
	return &Sink{element: element{host: h, settings: s, side: props.Sink}}
}

// Start opens the sink; it never waits for the peer. The error is a *Report.
// Warnings of the URI are posted here.
func (s *Sink) Start() error { return s.start() }

// SetHeaders sets the stream headers, which each new peer gets first, and a peer
// that was connected again too.
func (s *Sink) SetHeaders(h [][]byte) {
	own := make([][]byte, len(h))
	for i := range h {
		own[i] = append([]byte(nil), h[i]...)
	}
	s.headersMu.Lock()
	defer s.headersMu.Unlock()
	s.headers = own
}

func (s *Sink) currentHeaders() [][]byte {
	s.headersMu.Lock()
	defer s.headersMu.Unlock()
	return s.headers
}

// Write sends messages, each split into packets if it is longer than one. While
// nobody is connected it waits, or drops them with wait-for-connection=false.
// The messages were handed in at some time; the zero time is now. They are
// copied. Flushing comes with how many messages were done with by then; the rest
// may be written again.
func (s *Sink) Write(msgs [][]byte, at time.Time) (done int, st Status) {
	r := s.current()
	if r == nil {
		return 0, Flushing
	}
	if r.cfg.Mode == props.ModeCaller {
		return s.writeOne(r, msgs, at)
	}
	peers, status := r.toWrite()
	if status != OK {
		return 0, status
	}
	s.offerAll(r, peers, msgs, at)
	return len(msgs), OK
}

// Writable is the longest message that TryWrite takes, and the shortest latency
// of those it goes to: 0 if there is nobody to write to, or Write has something
// else to do first.
func (s *Sink) Writable() (most int, latency time.Duration) {
	r := s.current()
	if r == nil {
		return 0, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unlocked || r.stopping() || r.ended || len(r.live) == 0 {
		return 0, 0
	}
	most, latency = math.MaxInt, math.MaxInt64
	for _, p := range r.live {
		if !p.greeted {
			return 0, 0
		}
		most, latency = min(most, p.conn.MaxPayload()), min(latency, p.conn.PeerLatency())
	}
	return most, latency
}

// TryWrite is Write, without waiting, of messages handed in at some time; done
// of them need not be written again. Write and TryWrite exclude each other.
func (s *Sink) TryWrite(msgs [][]byte, at time.Time) (done int) {
	r := s.current()
	if r == nil {
		return 0
	}
	peers := r.peers()
	switch {
	case len(peers) == 0:
		return 0
	case r.cfg.Mode != props.ModeCaller:
		s.offerAll(r, peers, msgs, at)
		return len(msgs)
	}
	p := peers[len(peers)-1]
	if !p.greeted {
		return 0
	}
	n, err := p.conn.TryWriteBatch(msgs, at)
	s.sent(msgs[:n])
	if err != nil && err != srtcore.ErrAgain {
		r.forget(p, err)
	}
	return n
}

// sent counts.
func (s *Sink) sent(msgs [][]byte) (bytes int) {
	for _, b := range msgs {
		bytes += len(b)
	}
	if len(msgs) > 0 {
		s.total.Add(uint64(bytes))
		s.written = time.Now()
	}
	return bytes
}

// toWrite waits for somebody to write to. Nobody and OK: drop it.
func (r *run) toWrite() ([]*peer, Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case r.unlocked || r.stopping():
			return nil, Flushing
		case r.ended:
			return nil, r.final
		case len(r.live) > 0:
			return r.live, OK
		case !r.settings.GetBool(props.WaitForConnection):
			return nil, OK
		}
		r.wait()
	}
}

// writeOne writes to the one peer of a caller, and waits for room there. What a
// connection did not take before it ended, the next one gets.
func (s *Sink) writeOne(r *run, msgs [][]byte, at time.Time) (done int, st Status) {
	for {
		peers, status := r.toWrite()
		if status != OK {
			return done, status
		}
		if len(peers) == 0 {
			return len(msgs), OK
		}
		p := peers[len(peers)-1]
		if !p.greeted {
			if _, err := s.push(p, s.currentHeaders(), at); err != nil {
				r.forget(p, err)
				continue
			}
			p.greeted = true
		}
		n, err := s.push(p, msgs[done:], at)
		if err == nil {
			return len(msgs), OK
		}
		done += n
		r.forget(p, err)
	}
}

// push writes to a caller's connection and returns how many messages it took
// whole.
func (s *Sink) push(p *peer, msgs [][]byte, at time.Time) (n int, err error) {
	parts := p.split(msgs)
	took := 0
	if at.IsZero() {
		took, err = p.conn.WriteBatch(parts)
	} else {
		for took < len(parts) && err == nil {
			if _, err = p.conn.WriteMessage(parts[took], at); err == nil {
				took++
			}
		}
	}
	bytes := s.sent(parts[:took])
	for n < len(msgs) && bytes >= len(msgs[n]) {
		bytes -= len(msgs[n])
		n++
	}
	return n, err
}

// Latency is what the sink adds: nothing, and it is not live.
func (s *Sink) Latency() (latency time.Duration, live bool) { return 0, false }
