package control

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/weirline/weirline/sidecar/control/page"
)

// operation is one method of one path. docs/openapi.yaml describes each of them,
// and a test holds the two together.
type operation struct {
	method, path string
	open         bool // needs no token
	do           http.HandlerFunc
}

func (s *Server) operations() []operation {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	return []operation{
		{get, "/v1/status", false, s.getStatus},
		{get, "/v1/routes", false, s.getRoutes},
		{post, "/v1/routes", false, s.addRoute},
		{get, "/v1/routes/{name}", false, s.getRoute},
		{del, "/v1/routes/{name}", false, s.removeRoute},
		{post, "/v1/routes/{name}/outputs", false, s.addOutput},
		{del, "/v1/routes/{name}/outputs/{id}", false, s.removeOutput},
		{get, "/v1/connections", false, s.getConnections},
		{get, "/v1/connections/{id}", false, s.getConnection},
		{del, "/v1/connections/{id}", false, s.kick},
		{get, "/v1/connections/{id}/history", false, s.getHistory},
		{get, "/v1/connections/{id}/trace", false, s.getTrace},
		{get, "/v1/listeners", false, s.getListeners},
		{get, "/v1/log-level", false, s.getLogLevel},
		{put, "/v1/log-level", false, s.setLogLevel},
		{post, "/v1/reload", false, s.reload},
		{get, "/v1/events", false, s.getEvents},
		{get, "/v1/events/stream", false, s.streamEvents},
		{get, "/v1/stats", false, s.getStats},
		{get, "/v1/stats/stream", false, s.streamStats},
		{post, "/v1/login", true, s.login},
		{post, "/v1/logout", true, s.logout},
		{get, "/v1/openapi.yaml", true, getOpenAPI},
		{get, "/metrics", false, s.metricsHandler()},
		{get, "/healthz", true, healthz},
		{get, "/readyz", true, s.readyz},
		{get, "/{$}", true, page.HTML},
		{get, "/app.css", true, page.CSS},
		{get, "/app.js", true, page.JS},
	}
}

// mux serves the operations: HEAD wherever GET is, OPTIONS everywhere, and
// what is not there is a problem with a text, not a bare number.
func (s *Server) mux() http.Handler {
	paths := map[string]map[string]http.HandlerFunc{}
	for _, op := range s.operations() {
		do := op.do
		if !op.open {
			do = s.authorized(do)
		}
		if paths[op.path] == nil {
			paths[op.path] = map[string]http.HandlerFunc{}
		}
		paths[op.path][op.method] = do
		if op.method == http.MethodGet {
			paths[op.path][http.MethodHead] = do
		}
	}
	mux := http.NewServeMux()
	for path, methods := range paths {
		mux.HandleFunc(path, byMethod(methods))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem(w, http.StatusNotFound, fmt.Sprintf("There is nothing at %q; /v1/openapi.yaml lists what there is.", clip(r.URL.Path)))
	})
	return mux
}

func byMethod(methods map[string]http.HandlerFunc) http.HandlerFunc {
	allowed := []string{http.MethodOptions}
	for m := range methods {
		allowed = append(allowed, m)
	}
	slices.Sort(allowed)
	allow := strings.Join(allowed, ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		if do := methods[r.Method]; do != nil {
			do(w, r)
			return
		}
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		problem(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not possible here: allowed %s.", clip(r.Method), allow))
	}
}
