package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// text reads the request's JSON; false: it has answered. A route or an output in it
// is config's to read: it is written the same in the file and here.
func (s *Server) text(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		problem(w, http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Type %q is not possible: allowed application/json.", clip(r.Header.Get("Content-Type"))))
		return nil, false
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		problem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is larger than %d bytes, the most that is read.", large.Limit))
		return nil, false
	}
	if err != nil {
		problem(w, http.StatusBadRequest, "The body did not come to its end: "+err.Error())
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(new(any)); err != nil {
		problem(w, http.StatusBadRequest, fmt.Sprintf("The body is not JSON, at byte %d: %v.", d.InputOffset(), err))
		return nil, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		problem(w, http.StatusBadRequest, fmt.Sprintf("After the JSON value something follows at byte %d: send one object.", d.InputOffset()))
		return nil, false
	}
	return text, true
}

// body reads the request's JSON into v, a pointer to a small struct; false: it has
// answered.
func (s *Server) body(w http.ResponseWriter, r *http.Request, v any) bool {
	text, ok := s.text(w, r)
	if !ok {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		problem(w, http.StatusUnprocessableEntity, "The body is not as docs/openapi.yaml has it: "+err.Error())
		return false
	}
	return true
}

// part reads a route or an output by the rules of the file; false: it has answered.
func part[T any](s *Server, w http.ResponseWriter, r *http.Request, parse func([]byte) (T, error)) (in T, ok bool) {
	text, ok := s.text(w, r)
	if !ok {
		return in, false
	}
	in, err := parse(text)
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, err.Error())
	}
	return in, err == nil
}
