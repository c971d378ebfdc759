package ingest

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// status is the HTTP status that tells an encoder what went wrong.
func status(k endpoint.Kind) int {
	switch k {
	case endpoint.BadOption:
		return http.StatusBadRequest
	case endpoint.Refused:
		return http.StatusForbidden
	case endpoint.NotFound:
		return http.StatusNotFound
	case endpoint.Timeout:
		return http.StatusGatewayTimeout
	case endpoint.Busy:
		return http.StatusConflict
	}
	return http.StatusBadGateway
}

// refuse answers with the status and the text for err.
func (h *Handler) refuse(w http.ResponseWriter, log *slog.Logger, err error) {
	if errors.Is(err, errStopping) {
		fail(w, http.StatusServiceUnavailable, stopping)
		return
	}
	f := endpoint.Judge(err)
	log.Warn("request failed", "status", status(f.Kind), "err", err)
	text := err.Error()
	if f.Advice != "" {
		text += "\n" + f.Advice
	}
	fail(w, status(f.Kind), text)
}

// fail answers with a text for people and ends the connection: what is left of
// the body is of no use.
func fail(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Connection", "close")
	w.WriteHeader(code)
	fmt.Fprintf(w, "weirline: %s\n", text)
}
