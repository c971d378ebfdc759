package control

import (
	"strings"
	"time"
)

// MaxStreams is the bound of requests that stay.
const MaxStreams = maxStreams

// Operations are "METHOD path" of all that is served.
func Operations(s *Server) []string {
	var out []string
	for _, op := range s.operations() {
		out = append(out, op.method+" "+strings.TrimSuffix(op.path, "{$}"))
	}
	return out
}

// Sample takes a sample, as Serve does once a second.
func Sample(s *Server, now time.Time) { s.live.take(now) }
