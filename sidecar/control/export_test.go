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

// MaxSeries is the bound of connections with series of their own.
const MaxSeries = maxSeries

// LimitSeries sets another one.
func LimitSeries(s *Server, most int) { s.bound.most = most }

// Sample takes a sample, as Serve does once a second.
func Sample(s *Server, now time.Time) { s.live.take(now) }
