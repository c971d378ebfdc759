package route

import (
	"context"
	"errors"
	"time"

	"github.com/weirline/weirline/srtcore"
)

var (
	errKicked = errors.New("disconnected by the operator")
	errSlow   = errors.New("too slow: it was losing messages for longer than slow-after allows")
)

// Kick ends the session with this id; false: there is none. An end that dials
// connects again; a caller may call again.
func (r *Route) Kick(id string) bool {
	s := r.find(id)
	if s == nil {
		return false
	}
	r.event(Event{Level: Warn, Kind: "kicked", Text: "disconnected " + id + " " + s.peer()})
	s.kick(errKicked)
	return true
}

// Connection is the SRT connection of the session with this id; nil: there is
// none.
func (r *Route) Connection(id string) *srtcore.Conn {
	if s := r.find(id); s != nil {
		if c, ok := s.of.(conner); ok {
			return c.Conn()
		}
	}
	return nil
}

func (r *Route) find(id string) *session {
	ends := append([]*end{}, r.sources...)
	for _, o := range r.fan.list() {
		ends = append(ends, o.end)
	}
	for _, e := range ends {
		if s := e.session(id); s != nil {
			return s
		}
	}
	return nil
}

// watchSlow disconnects callers of listening outputs that have been losing
// messages for Config.SlowAfter.
func (r *Route) watchSlow(ctx context.Context) {
	limit := r.cfg.SlowAfter
	t := time.NewTicker(max(limit/8, 20*time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			for _, o := range r.fan.list() {
				if o.traits.Listens {
					o.dropSlow(now, limit)
				}
			}
		}
	}
}

func (o *output) dropSlow(now time.Time, limit time.Duration) {
	for _, s := range o.list() {
		if !s.losing(now, limit) {
			continue
		}
		o.r.log.Warn("disconnected: too slow", about(o.sink, s, nil)...)
		o.r.event(Event{Level: Warn, Kind: "slow", Text: "disconnected " + s.id + " " + s.peer() + ": " + errSlow.Error()})
		s.kick(errSlow)
	}
}

// Stopped reports whether Stop was called.
func (r *Route) Stopped() bool { return r.stopped.Err() != nil }
