package control

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

const (
	sampleEvery = time.Second
	// historyLength samples are kept of a connection, five minutes.
	historyLength = 300
	// maxHistories bounds the connections whose past is kept, about 6 kB each.
	maxHistories = 1000
)

// sampler reads the daemon once a second, for everybody who looks, and keeps
// the past of the connections, so that a page that is opened after a fault
// shows it.
type sampler struct {
	daemon Daemon

	mu    sync.Mutex
	last  *sample
	past  map[string]*history // by connection id
	route map[string]*window  // by route name
}

// sample is one reading; next is closed when another one is there.
type sample struct {
	live *Live
	next chan struct{}
	once sync.Once
	text []byte
}

func newSampler(d Daemon) *sampler {
	return &sampler{daemon: d, past: map[string]*history{}, route: map[string]*window{}}
}

func (s *sampler) run(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		s.take(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// take makes a new sample and wakes those who wait for it.
func (s *sampler) take(now time.Time) *sample {
	live := takeLive(s.daemon, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fill(live)
	old := s.last
	s.last = &sample{live: live, next: make(chan struct{})}
	if old != nil {
		close(old.next)
	}
	return s.last
}

// latest is the newest sample; before the first one it takes it.
func (s *sampler) latest() *sample {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == nil {
		return s.take(time.Now())
	}
	return last
}

// json is marshalled once, and only if somebody looks.
func (s *sample) json() []byte {
	s.once.Do(func() {
		text, err := json.Marshal(s.live)
		if err != nil { // a Health that is not JSON: the rest is worth showing
			for i := range s.live.Routes {
				s.live.Routes[i].Health = nil
			}
			text, _ = json.Marshal(s.live)
		}
		s.text = text
	})
	return s.text
}

// fill adds the rates to live and live to the past, and forgets who has gone.
func (s *sampler) fill(live *Live) {
	seen := map[string]bool{}
	for i := range live.Connections {
		c := &live.Connections[i]
		if c.SRT == nil || c.ID == "" {
			continue
		}
		seen[c.ID] = true
		h := s.past[c.ID]
		if h == nil {
			if len(s.past) >= maxHistories {
				continue
			}
			h = &history{}
			s.past[c.ID] = h
		}
		h.add(live.Time, c.SRT)
	}
	for id := range s.past {
		if !seen[id] {
			delete(s.past, id)
		}
	}
	s.routeRates(live)
}

func (s *sampler) routeRates(live *Live) {
	routes := make(map[string]*window, len(live.Routes))
	for i := range live.Routes {
		r := &live.Routes[i]
		w := s.route[r.Name]
		if w == nil {
			w = &window{}
		}
		routes[r.Name] = w
		r.Mbps = w.rate(live.Time, r.Media.Bytes) * 8 / 1e6
	}
	s.route = routes
}

// window is a counter's rate over the last three readings.
type window struct {
	at    [3]time.Time
	value [3]uint64
}

// rate takes a reading and returns the counter's growth a second.
func (w *window) rate(now time.Time, v uint64) float64 {
	from := 0
	for from < len(w.at) && w.at[from].IsZero() {
		from++
	}
	var rate float64
	if from < len(w.at) && v >= w.value[from] && now.After(w.at[from]) {
		rate = float64(v-w.value[from]) / now.Sub(w.at[from]).Seconds()
	}
	copy(w.at[:], w.at[1:])
	copy(w.value[:], w.value[1:])
	w.at[2], w.value[2] = now, v
	return rate
}
