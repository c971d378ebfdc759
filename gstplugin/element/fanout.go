package element

import (
	"fmt"
	"time"

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

// offer gives messages to one of a listener's callers, without ever waiting: a
// caller that cannot keep up loses packets, or its connection, and nobody else
// does.
func (s *Sink) offer(r *run, p *peer, msgs [][]byte, at time.Time) {
	if !p.greeted {
		p.greeted = true
		s.try(r, p, s.currentHeaders(), at)
	}
	s.try(r, p, msgs, at)
}

func (s *Sink) offerAll(r *run, peers []*peer, msgs [][]byte, at time.Time) {
	for _, p := range peers {
		s.offer(r, p, msgs, at)
	}
	if len(peers) > 0 {
		s.written = time.Now()
	}
}

func (s *Sink) try(r *run, p *peer, msgs [][]byte, at time.Time) {
	parts := p.split(msgs)
	buffered := p.conn.Buffered()
	if most := int(r.settings.GetInt(props.CallerBacklog)); most > 0 && buffered >= most {
		r.tooSlow(p, buffered)
		return
	}
	took, err := p.conn.TryWriteBatch(parts, at)
	bytes := 0
	for _, b := range parts[:took] {
		bytes += len(b)
	}
	s.total.Add(uint64(bytes))
	if err == srtcore.ErrAgain || err == nil && took < len(parts) {
		r.tooSlow(p, buffered)
	}
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
