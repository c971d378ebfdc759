package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// stream is an answer of server-sent events.
type stream struct {
	w     http.ResponseWriter
	r     *http.Request
	rc    *http.ResponseController
	beat  *time.Ticker
	close func()
}

// stream begins one; false: it has answered.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) (*stream, bool) {
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")
		return nil, false
	}
	leave, ok := s.slot(w)
	if !ok {
		return nil, false
	}
	out := &stream{w: w, r: r, rc: http.NewResponseController(w), beat: time.NewTicker(heartbeat)}
	out.close = func() {
		out.beat.Stop()
		leave()
	}
	out.rc.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if !out.flush() {
		out.close()
		return nil, false
	}
	return out, true
}

// send writes one event; data has no line break.
func (o *stream) send(id, name string, data []byte) bool {
	o.rc.SetWriteDeadline(time.Now().Add(streamWrite))
	if id != "" {
		fmt.Fprintf(o.w, "id: %s\n", id)
	}
	if _, err := fmt.Fprintf(o.w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return false
	}
	return o.flush()
}

// events sends them and returns the number of the last one.
func (o *stream) events(events []Event, since uint64) (last uint64, ok bool) {
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil || !o.send(strconv.FormatUint(e.Number, 10), "event", text) {
			return since, false
		}
		since = max(since, e.Number)
	}
	return since, true
}

// flush hands over what is written; a client that does not take it in time
// loses the stream.
func (o *stream) flush() bool {
	o.rc.SetWriteDeadline(time.Now().Add(streamWrite))
	return o.rc.Flush() == nil
}

// wait returns true when more closes, and false when the client has left.
func (o *stream) wait(more <-chan struct{}) bool {
	for {
		select {
		case <-more:
			return true
		case <-o.r.Context().Done():
			return false
		case <-o.beat.C:
			if _, err := fmt.Fprint(o.w, ": still here\n\n"); err != nil || !o.flush() {
				return false
			}
		}
	}
}
