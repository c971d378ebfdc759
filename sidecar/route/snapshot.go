package route

import (
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/hub"
)

// Snapshot is how a route stands at one moment. Statistics, the API and the
// page all read this one type.
type Snapshot struct {
	Time    time.Time   `json:"time"`
	Name    string      `json:"name,omitempty"`
	Dynamic bool        `json:"dynamic"` // made by a request, not by the configuration
	Uptime  float64     `json:"uptimeSeconds"`
	Media   hub.Stats   `json:"media"`  // what passed the hub
	Source  EndSnapshot `json:"source"` // the one in use
	// Spares are the other sources, of a route with more than one.
	Spares  []EndSnapshot `json:"spares,omitempty"`
	Outputs []EndSnapshot `json:"outputs"`
	// Health is what the transport stream looks like; nil: not looked at.
	Health any `json:"health,omitempty"`
}

// EndSnapshot is one end of it.
type EndSnapshot struct {
	ID       string            `json:"id,omitempty"` // of an output: unique within its route
	URL      string            `json:"url"`
	State    State             `json:"state"`
	Since    time.Time         `json:"since"`
	Opened   int               `json:"sessionsOpened"`
	Failures int               `json:"failures"`
	Error    string            `json:"lastError,omitempty"`
	Queue    hub.ReaderStats   `json:"queue"`          // outputs: of all sessions, past ones included
	TooLate  int64             `json:"droppedTooLate"` // by the connections of past sessions themselves
	Sessions []SessionSnapshot `json:"sessions"`
}

// SessionSnapshot is one connection of an end.
type SessionSnapshot struct {
	ID       string          `json:"id,omitempty"` // unique within the daemon's life
	StreamID string          `json:"streamId,omitempty"`
	User     string          `json:"user,omitempty"`
	Peer     string          `json:"peer,omitempty"`
	Uptime   float64         `json:"uptimeSeconds"`
	Queue    hub.ReaderStats `json:"queue"`
	SRT      *srtcore.Stats  `json:"srt,omitempty"`
}

// Snapshot says how the route stands.
func (r *Route) Snapshot() Snapshot {
	now := time.Now()
	s := Snapshot{
		Time: now, Name: r.cfg.Name, Uptime: now.Sub(r.started).Seconds(),
		Dynamic: r.cfg.Dynamic, Media: r.hub.Stats(), Outputs: []EndSnapshot{},
	}
	active := r.choice.current()
	s.Source = r.sources[active].snapshot(now)
	for i, e := range r.sources {
		if i != active {
			s.Spares = append(s.Spares, e.snapshot(now))
		}
	}
	for _, o := range r.fan.list() {
		s.Outputs = append(s.Outputs, o.snapshot(now))
	}
	if r.cfg.Monitor != nil {
		s.Health = r.cfg.Monitor.Snapshot()
	}
	return s
}

func (e *end) snapshot(now time.Time) EndSnapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := EndSnapshot{
		URL: e.face.URL(), State: e.state, Since: e.since, Opened: e.opened, Failures: e.failures,
		Sessions: []SessionSnapshot{},
	}
	if e.lastErr != nil {
		s.Error = e.lastErr.Error()
	}
	for c := range e.sessions {
		s.Sessions = append(s.Sessions, c.snapshot(now))
	}
	return s
}

func (s *session) snapshot(now time.Time) SessionSnapshot {
	out := SessionSnapshot{ID: s.id, Peer: s.peer(), Uptime: now.Sub(s.begun).Seconds()}
	if s.queue != nil {
		out.Queue = s.queue.Stats()
	}
	if c, ok := s.of.(streamIDer); ok {
		out.StreamID = c.StreamID()
	}
	if c, ok := s.of.(userer); ok {
		out.User = c.User()
	}
	if c, ok := s.of.(statter); ok {
		st := c.SRTStats()
		out.SRT = &st
	}
	return out
}

func (o *output) snapshot(now time.Time) EndSnapshot {
	s := o.end.snapshot(now)
	s.ID = o.id
	s.Queue = o.queueStats()
	o.mu.Lock()
	defer o.mu.Unlock()
	s.TooLate = o.tooLate
	return s
}
