package control

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) getConnections(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"connections": connections(routesOf(s.opt.Daemon))})
}

func (s *Server) getConnection(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	all := connections(routesOf(s.opt.Daemon))
	if i := slices.IndexFunc(all, func(c Connection) bool { return c.ID == id }); i >= 0 {
		reply(w, http.StatusOK, all[i])
		return
	}
	noConnection(w, id)
}

func noConnection(w http.ResponseWriter, id string) {
	problem(w, http.StatusNotFound, fmt.Sprintf("There is no connection %q; GET /v1/connections lists them. One that was made again has a new id.", clip(id)))
}

func (s *Server) kick(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if err := s.opt.Daemon.Kick(id); err != nil {
		s.fail(w, r, err)
		return
	}
	s.did(r, "kicked", "connection", id)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) getHistory(w http.ResponseWriter, r *http.Request) {
	s.live.latest()
	h, ok := s.live.history(r.PathValue("id"))
	if !ok {
		noConnection(w, r.PathValue("id"))
		return
	}
	reply(w, http.StatusOK, h)
}

// traceFormats are the formats of a trace, with their media types and endings.
var traceFormats = map[string][2]string{
	"pcapng": {"application/octet-stream", ".pcapng"},
	"text":   {"text/plain; charset=utf-8", ".txt"},
	"json":   {"application/json", ".json"},
}

func (s *Server) getTrace(w http.ResponseWriter, r *http.Request) {
	id, format := r.PathValue("id"), r.URL.Query().Get("format")
	if format == "" {
		format = "pcapng"
	}
	kind, ok := traceFormats[format]
	if !ok {
		problem(w, http.StatusBadRequest, fmt.Sprintf("format=%s is not known: allowed pcapng, text, json.", clip(format)))
		return
	}
	conn, err := s.opt.Daemon.Connection(id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if s.opt.Trace == nil {
		problem(w, http.StatusNotFound, fmt.Sprintf("No flight recorder is kept for connection %q.", clip(id)))
		return
	}
	var b bytes.Buffer // the recorder is bounded, and an error must not be half a file
	if err := s.opt.Trace(conn, format, &b); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", kind[0])
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "connection-" + fileName(id) + kind[1]}))
	w.Write(b.Bytes())
}

// fileName keeps of an id what may stand in the name of a file.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, clip(id))
}
