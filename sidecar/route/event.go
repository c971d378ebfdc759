package route

// Event is something that happened to a route.
type Event struct {
	Level Level
	// Kind is a word: source-up, source-down, output-up, output-down,
	// player-joined, player-left, failed, failover, kicked, slow, refused.
	Kind string
	Text string // for people; without secrets
}

// Level is how much an Event matters.
type Level string

// The levels.
const (
	Info  Level = "info"
	Warn  Level = "warn"
	Error Level = "error"
)

func (r *Route) event(e Event) {
	if r.cfg.OnEvent != nil {
		r.cfg.OnEvent(e)
	}
}

// came and went are what a session's beginning and end are called.
func (e *end) words(source bool) (came, went string) {
	switch {
	case source:
		return "source-up", "source-down"
	case e.traits.Listens:
		return "player-joined", "player-left"
	}
	return "output-up", "output-down"
}

func (r *Route) sessionEvent(e *end, s *session, kind string, err error) {
	text := e.face.URL()
	if p := s.peer(); p != "" {
		text += " " + p
	}
	level := Info
	if err != nil {
		level, text = Warn, text+": "+err.Error()
	}
	r.event(Event{Level: level, Kind: kind, Text: text})
}
