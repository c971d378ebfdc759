package control

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	maxWait = 30 * time.Second
	// maxStreams bounds the requests that wait or stream at a time.
	maxStreams = 128
	// heartbeat keeps proxies from cutting a stream that has nothing to say.
	heartbeat   = 15 * time.Second
	streamWrite = 10 * time.Second
	lastEvent   = 1<<62 - 1
)

// number reads a query parameter; false: it has answered.
func number(w http.ResponseWriter, r *http.Request, key string, least, most, otherwise uint64) (uint64, bool) {
	text := r.URL.Query().Get(key)
	if text == "" {
		return otherwise, true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most {
		problem(w, http.StatusBadRequest, fmt.Sprintf("%s=%s is not possible: allowed are whole numbers from %d to %d.", key, clip(text), least, most))
		return 0, false
	}
	return n, true
}

// slot takes one of the places for requests that stay; false: it has answered.
func (s *Server) slot(w http.ResponseWriter) (leave func(), ok bool) {
	select {
	case s.streams <- struct{}{}:
		return func() { <-s.streams }, true
	default:
		w.Header().Set("Retry-After", "5")
		problem(w, http.StatusServiceUnavailable, fmt.Sprintf("%d requests are waiting or streaming already, the most there may be. Close pages that nobody looks at.", maxStreams))
		return nil, false
	}
}

// getEvents answers at once if there is something after since, and otherwise
// waits for it.
func (s *Server) getEvents(w http.ResponseWriter, r *http.Request) {
	since, ok := number(w, r, "since", 0, lastEvent, 0)
	if !ok {
		return
	}
	wait, ok := number(w, r, "wait", 0, uint64(maxWait/time.Second), 0)
	if !ok {
		return
	}
	events, more := s.opt.Daemon.Events(since)
	if len(events) == 0 && wait > 0 && r.Method == http.MethodGet {
		leave, ok := s.slot(w)
		if !ok {
			return
		}
		defer leave()
		http.NewResponseController(w).SetReadDeadline(time.Time{}) // the request is read
		timer := time.NewTimer(time.Duration(wait) * time.Second)
		defer timer.Stop()
		select {
		case <-more:
			events, _ = s.opt.Daemon.Events(since)
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	if events == nil {
		events = []Event{}
	}
	for _, e := range events {
		since = max(since, e.Number)
	}
	reply(w, http.StatusOK, map[string]any{"events": events, "last": since})
}

// streamEvents sends every event as it happens. A browser that comes back says
// in Last-Event-ID what it has seen.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request) {
	since, ok := number(w, r, "since", 0, lastEvent, 0)
	if !ok {
		return
	}
	if n, err := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 62); err == nil {
		since = n
	}
	out, ok := s.stream(w, r)
	if !ok {
		return
	}
	defer out.close()
	for {
		events, more := s.opt.Daemon.Events(since)
		if since, ok = out.events(events, since); !ok || !out.wait(more) {
			return
		}
	}
}

func (s *Server) getStats(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(s.live.latest().json(), '\n'))
}

// streamStats sends a Live a second and, if asked for events after a number,
// those too: browsers have few connections to a server, so the page has one.
func (s *Server) streamStats(w http.ResponseWriter, r *http.Request) {
	withEvents := r.URL.Query().Has("events")
	since, ok := number(w, r, "events", 0, lastEvent, 0)
	if !ok {
		return
	}
	if n, err := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 62); err == nil {
		since = n
	}
	out, ok := s.stream(w, r)
	if !ok {
		return
	}
	defer out.close()
	for {
		now := s.live.latest()
		if withEvents {
			events, _ := s.opt.Daemon.Events(since)
			if since, ok = out.events(events, since); !ok {
				return
			}
		}
		if !out.send("", "stats", now.json()) || !out.wait(now.next) {
			return
		}
	}
}
