package control

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
)

// Problem is what an answer that is not a success carries (RFC 9457).
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p Problem) Error() string { return p.Detail }

var secrets = regexp.MustCompile(`(?i)((?:passphrase|token)"?[=:]\s*"?)[^&"\s]+`)

// problem answers with an error for people and programs. Detail may quote what
// the daemon said about a URL; passphrases in it are hidden.
func problem(w http.ResponseWriter, status int, detail string) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Del("Content-Disposition")
	w.WriteHeader(status)
	title := http.StatusText(status)
	json.NewEncoder(w).Encode(Problem{title, status, secrets.ReplaceAllString(detail, "${1}(hidden)")})
}

// fail answers with the status an error of the daemon deserves.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, ErrConflict):
		status = http.StatusConflict
	case errors.Is(err, ErrInvalid):
		status = http.StatusUnprocessableEntity
	default:
		s.log.Error("control request failed", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	problem(w, status, err.Error())
}

// reply answers with v as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}
