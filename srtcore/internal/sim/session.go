package sim

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// Session is one connection of a Host and what happened to it.
type Session struct {
	Host    *Host
	Conn    *engine.Conn
	Config  engine.Config
	Request *engine.Request // of an accepted one

	OpenedAt, ConnectedAt, ClosedAt, PeerShutdownAt mono.Time

	Connected bool
	Err       error // of EventClosed
	Received  []Received
	// OnMessage sees each message as it is delivered.
	OnMessage func(Received)
	// Paused: the application does not read.
	Paused bool

	Sent    []Sent
	Refused int // Sends that were not taken

	initSeq seq.Number             // the caller's, of both directions
	base    arrival                // of the handshake that sets the time base
	arrived map[seq.Number]arrival // first of each number
	ended   bool
	final   engine.Stats
}

// Received is a delivered message.
type Received struct {
	Data   []byte
	Seq    seq.Number
	At     mono.Time
	Source mono.Time
}

// Sent is a message handed in.
type Sent struct {
	Index  uint32
	Len    int
	Origin mono.Time
}

func (s *Session) add(c *engine.Conn) {
	s.Conn = c
	c.User = s
}

// Ended reports whether the connection is over.
func (s *Session) Ended() bool { return s.ended }

// Stats returns the statistics; of an ended connection, the last ones.
func (s *Session) Stats() engine.Stats {
	if s.ended {
		return s.final
	}
	return s.Conn.Stats(s.Host.now())
}

// Close closes gracefully.
func (s *Session) Close() {
	if !s.ended && !s.Host.dead {
		s.Conn.Close(s.Host.now())
	}
}

// Abort closes at once.
func (s *Session) Abort() {
	if !s.ended && !s.Host.dead {
		s.Conn.Abort(s.Host.now())
	}
}

// Send hands in the payload now and reports whether it was taken.
func (s *Session) Send(payload []byte) bool { return s.SendAt(payload, s.Host.now()) }

// SendAt hands in the payload with a source time of its own, on the Host's clock.
func (s *Session) SendAt(payload []byte, origin mono.Time) bool {
	if s.ended || s.Host.dead {
		s.Refused++
		return false
	}
	b := s.Host.cache.Get()
	b.SetPayload(payload)
	if !s.Conn.Send(s.Host.now(), b, origin) {
		s.Host.cache.Put(b)
		s.Refused++
		return false
	}
	return true
}

func (s *Session) drain(now mono.Time) {
	for more := true; more; {
		more = s.Conn.PollTransmit(now, &s.Host.batch)
		if more && s.Host.batch.Len() == 0 {
			s.Host.World.TB.Fatalf("PollTransmit: more to come, but nothing came (seed %d)", s.Host.World.Seed)
		}
		s.Host.World.send(&s.Host.batch, s.Host.Addr)
	}
	if s.Paused {
		s.Conn.PollMessages(now, nil) // no room: ready messages are no deadline
	}
	for !s.Paused && s.takeMessages(now) {
	}
	for {
		ev, ok := s.Conn.PollEvent()
		if !ok {
			return
		}
		s.handleEvent(ev)
	}
}

// takeMessages takes one lot of messages; false when there were none.
func (s *Session) takeMessages(now mono.Time) bool {
	h := s.Host
	h.msgs = s.Conn.PollMessages(now, h.msgs[:0])
	for _, m := range h.msgs {
		r := Received{append([]byte(nil), m.Buf.Payload()...), m.Seq, h.World.Now, m.Source}
		h.cache.Put(m.Buf)
		s.Received = append(s.Received, r)
		if s.OnMessage != nil {
			s.OnMessage(r)
		}
	}
	return len(h.msgs) > 0
}

func (s *Session) handleEvent(ev engine.Event) {
	now := s.Host.World.Now
	switch ev.Kind {
	case engine.EventConnected:
		s.Connected, s.ConnectedAt = true, now
	case engine.EventPeerShutdown:
		s.PeerShutdownAt = now
	case engine.EventClosed:
		s.final = s.Conn.Stats(s.Host.now())
		s.ended, s.Err, s.ClosedAt = true, ev.Err, now
		if !s.Conn.Dead() {
			s.Host.World.TB.Errorf("not dead after EventClosed (seed %d)", s.Host.World.Seed)
		}
	default:
		s.Host.World.TB.Errorf("connection event of kind %d", ev.Kind)
	}
}

func (s *Session) noteArrival(here arrival, data []byte) {
	p := Packet{Data: data}
	if hs, ok := p.Handshake(); ok && hs.Type == wire.HSConclusion && s.base.at == 0 {
		s.base, s.initSeq = here, hs.InitSeq
	}
	if !p.IsData() {
		return
	}
	if n := p.Seq(); s.arrived[n].at == 0 {
		s.arrived[n] = here
	}
}

// playTime is when the message with this number is due: time base + time stamp
// + latency (draft section 4.5), drift left out.
func (s *Session) playTime(n seq.Number) mono.Time {
	since := int32(s.arrived[n].stamp - s.base.stamp) // the shorter way round
	return s.base.at.Add(time.Duration(since)*time.Microsecond + s.Conn.RcvLatency())
}
