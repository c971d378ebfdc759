package element

import (
	"fmt"

	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// split cuts messages to what one packet carries. The result is valid until the
// next call.
func (p *peer) split(msgs [][]byte) [][]byte {
	most := p.conn.MaxPayload()
	fit := true
	for _, m := range msgs {
		fit = fit && len(m) <= most
	}
	if fit {
		return msgs
	}
	p.parts = p.parts[:0]
	for _, m := range msgs {
		for len(m) > most {
			p.parts = append(p.parts, m[:most])
			m = m[most:]
		}
		p.parts = append(p.parts, m)
	}
	return p.parts
}

// forget takes a connection that failed out before its end is noticed elsewhere.
// A write that Unlock ended is no failure.
func (r *run) forget(p *peer, err error) {
	if err != srtcore.ErrTimeout {
		r.remove(p)
	}
}

// roomFor says that this many messages can be written to a connection without
// waiting: its queue holds more, whatever else it does.
const roomFor = 24

// offer gives messages to one of a listener's callers, without ever waiting: a
// caller that cannot keep up loses packets, or its connection, and nobody else
// does.
func (s *Sink) offer(r *run, p *peer, msgs [][]byte) {
	if !p.greeted {
		p.greeted = true
		s.try(r, p, s.currentHeaders())
	}
	s.try(r, p, msgs)
}

func (s *Sink) try(r *run, p *peer, msgs [][]byte) {
	parts := p.split(msgs)
	buffered := p.conn.Buffered()
	if most := int(r.settings.GetInt(props.CallerBacklog)); most > 0 && buffered >= most {
		r.tooSlow(p, buffered)
		return
	}
	var took int
	var err error
	if buffered+len(parts) <= roomFor {
		took, err = p.conn.WriteBatch(parts)
	} else {
		took, err = tryEach(p.conn, parts)
	}
	bytes := 0
	for _, b := range parts[:took] {
		bytes += len(b)
	}
	s.total.Add(uint64(bytes))
	if err == srtcore.ErrAgain {
		r.tooSlow(p, buffered)
	}
}

func tryEach(c *srtcore.Conn, parts [][]byte) (int, error) {
	for i, b := range parts {
		if err := c.TryWrite(b); err != nil {
			return i, err
		}
	}
	return len(parts), nil
}

// tooSlow is about a caller beyond its limit. It is warned about once.
func (r *run) tooSlow(p *peer, buffered int) {
	what := "its packets are dropped"
	if r.settings.GetInt(props.SlowCaller) == props.SlowDisconnect {
		what = "it is disconnected"
		_ = p.conn.Abort()
	}
	if p.slow {
		return
	}
	p.slow = true
	r.ask(func(h Host) {
		h.Warning(Report{
			Code: Write, Reason: "slow caller",
			Text: fmt.Sprintf("Caller %v does not keep up with %d packets unacknowledged: %s, see slow-caller and caller-backlog", p.addr, buffered, what),
		})
	})
}
