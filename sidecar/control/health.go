package control

import (
	"fmt"
	"net/http"

	"github.com/weirline/weirline/sidecar/route"
)

// healthz says that the process answers.
func healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "ok")
}

// readyz says whether every configured route could be begun: none of its ends
// has failed for good or has not been tried. Routes are not named: it needs no
// token.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	var all, not int
	for _, r := range routesOf(s.opt.Daemon) {
		if r.Dynamic {
			continue
		}
		all++
		if !ready(r) {
			not++
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if not > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "not ready: %d of %d routes\n", not, all)
		return
	}
	fmt.Fprintf(w, "ready: %d routes\n", all)
}

func ready(r route.Snapshot) bool {
	began := func(e route.EndSnapshot) bool { return e.State != route.Failed && e.State != route.Idle }
	if !began(r.Source) {
		return false
	}
	for _, o := range r.Outputs {
		if !began(o) {
			return false
		}
	}
	return true
}
