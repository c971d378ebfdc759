package element

import (
	"time"

	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// Source is srtgosrc. Read and Release belong to one thread; everything else may
// be called by any.
type Source struct {
	element

	// For the thread that reads.
	from *srtcore.Conn // where the last packet came from
	next uint32        // sequence number expected of it
}

// NewSource returns a source that is stopped.
func NewSource(h Host, s *props.Settings) *Source {
	return &Source{element: element{host: h, settings: s, side: props.Source}}
}

// Start opens the source; it never waits for the peer. The error is a *Report.
// Warnings of the URI are posted here.
func (s *Source) Start() error { return s.start() }

// Read waits for a packet and returns up to len(dst) of those that are there.
// Each is one SRT message, whatever its size.
func (s *Source) Read(dst []Packet) (int, Status) {
	r := s.current()
	if r == nil {
		return 0, Flushing
	}
	for {
		p, status := r.toRead()
		if p == nil {
			return 0, status
		}
		n, err := s.take(p.conn, dst, (*srtcore.Conn).ReceiveBatch)
		if err == nil {
			return n, OK
		}
		if err != srtcore.ErrTimeout {
			r.isRead(p)
		}
	}
}

// Readable returns the connection that Read would read now and nothing else, or
// nil. Somebody may then Take from it instead of calling Read, until there is a
// change or an error.
func (s *Source) Readable() *srtcore.Conn {
	r := s.current()
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unlocked || r.stopping() || len(r.queue) == 0 {
		return nil
	}
	return r.queue[0].conn
}

// Take is Read from that connection without waiting: 0 and no error if there is
// nothing now. What the error means, Read knows. Read and Take exclude each other.
func (s *Source) Take(c *srtcore.Conn, dst []Packet) (int, error) {
	return s.take(c, dst, (*srtcore.Conn).TryReceiveBatch)
}

// readLot is how many packets one Read returns at most.
const readLot = 32

// take takes what the connection has.
func (s *Source) take(c *srtcore.Conn, dst []Packet, receive func(*srtcore.Conn, []srtcore.Message) (int, error)) (int, error) {
	var ms [readLot]srtcore.Message
	n, err := receive(c, ms[:min(len(dst), readLot)])
	if err != nil || n == 0 {
		return 0, err
	}
	bytes, now := 0, time.Now()
	latest := now.Add(c.RcvLatency())
	for i := range n {
		seq := ms[i].Seq()
		dst[i] = Packet{
			Payload: ms[i].Payload(), Play: latest.Add(-ms[i].Age(now)),
			Discont: s.from != c || s.next != seq,
			conn:    c, msg: ms[i],
		}
		// Live mode sends one packet a message, so numbers without a gap are
		// messages without a gap. A packet sequence number has 31 bits.
		s.from, s.next = c, (seq+1)&(1<<31-1)
		bytes += len(dst[i].Payload)
	}
	s.total.Add(uint64(bytes))
	return n, nil
}

// toRead waits for a connection to read, or returns nil and why there is none.
func (r *run) toRead() (*peer, Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case r.unlocked || r.stopping():
			return nil, Flushing
		case len(r.queue) > 0:
			return r.queue[0], OK
		case r.ended:
			return nil, r.final
		}
		r.wait()
	}
}

// isRead takes a connection that has ended from the queue.
func (r *run) isRead(p *peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) > 0 && r.queue[0] == p {
		r.queue = r.queue[1:]
	}
}

// Release gives packets back; their payloads are invalid from then on. It may
// follow Stop.
func (s *Source) Release(ps []Packet) {
	var ms [readLot]srtcore.Message
	for len(ps) > 0 {
		c, n := ps[0].conn, 0
		for n < len(ps) && n < readLot && ps[n].conn == c {
			ms[n] = ps[n].msg
			ps[n] = Packet{}
			n++
		}
		if c != nil {
			c.Release(ms[:n])
		}
		ps = ps[n:]
	}
}

// Latency is the negotiated latency once connected, before that the property. A
// source is live.
func (s *Source) Latency() (latency time.Duration, live bool) {
	if r := s.current(); r != nil {
		return r.latency(), true
	}
	return propertyLatency(s.settings), true
}
