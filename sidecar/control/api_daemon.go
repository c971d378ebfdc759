package control

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/weirline/weirline/docs"
)

func (s *Server) getStatus(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.opt.Daemon.Status())
}

func (s *Server) getListeners(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"listeners": listenersOf(s.opt.Daemon)})
}

// levels are the names of the log levels.
var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func levelName(l slog.Level) string {
	for name, v := range levels {
		if v == l {
			return name
		}
	}
	return strings.ToLower(l.String())
}

// logLevel is the body of both directions.
type logLevel struct {
	Level string `json:"level"`
}

func (s *Server) getLogLevel(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, logLevel{levelName(s.opt.Daemon.LogLevel())})
}

func (s *Server) setLogLevel(w http.ResponseWriter, r *http.Request) {
	var in logLevel
	if !s.body(w, r, &in) {
		return
	}
	l, ok := levels[in.Level]
	if !ok {
		problem(w, http.StatusUnprocessableEntity, fmt.Sprintf("level %q is not known: allowed debug, info, warn, error.", clip(in.Level)))
		return
	}
	s.opt.Daemon.SetLogLevel(l)
	s.did(r, "log level set", "level", in.Level)
	s.getLogLevel(w, r)
}

// reload fails with the text of what is wrong in the file; the running
// configuration then stays.
func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	if err := s.opt.Daemon.Reload(); err != nil {
		s.fail(w, r, err)
		return
	}
	s.did(r, "configuration reloaded")
	s.getStatus(w, r)
}

func getOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	w.Write(docs.OpenAPI)
}
