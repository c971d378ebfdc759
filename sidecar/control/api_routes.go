package control

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/route"
)

func (s *Server) getRoutes(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"routes": routesOf(s.opt.Daemon)})
}

// findRoute answers for itself if there is no such route.
func (s *Server) findRoute(w http.ResponseWriter, name string) (route.Snapshot, bool) {
	routes := routesOf(s.opt.Daemon)
	i := slices.IndexFunc(routes, func(r route.Snapshot) bool { return r.Name == name })
	if i < 0 {
		problem(w, http.StatusNotFound, fmt.Sprintf("There is no route %q; GET /v1/routes lists them.", clip(name)))
		return route.Snapshot{}, false
	}
	return routes[i], true
}

func (s *Server) getRoute(w http.ResponseWriter, r *http.Request) {
	if found, ok := s.findRoute(w, r.PathValue("name")); ok {
		reply(w, http.StatusOK, found)
	}
}

func (s *Server) addRoute(w http.ResponseWriter, r *http.Request) {
	in, ok := part(s, w, r, config.ParseRoute)
	if !ok {
		return
	}
	if err := s.opt.Daemon.AddRoute(in); err != nil {
		s.fail(w, r, err)
		return
	}
	s.did(r, "route added", "route", in.Name)
	w.Header().Set("Location", "/v1/routes/"+url.PathEscape(in.Name))
	if found, ok := s.findRoute(w, in.Name); ok {
		reply(w, http.StatusCreated, found)
	}
}

func (s *Server) removeRoute(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if err := s.opt.Daemon.RemoveRoute(name); err != nil {
		s.fail(w, r, err)
		return
	}
	s.did(r, "route removed", "route", name)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) addOutput(w http.ResponseWriter, r *http.Request) {
	in, ok := part(s, w, r, config.ParseOutput)
	if !ok {
		return
	}
	name := r.PathValue("name")
	id, err := s.opt.Daemon.AddOutput(name, in)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.did(r, "output added", "route", name, "output", id)
	w.Header().Set("Location", "/v1/routes/"+url.PathEscape(name)+"/outputs/"+url.PathEscape(id))
	reply(w, http.StatusCreated, map[string]string{"id": id})
}

func (s *Server) removeOutput(w http.ResponseWriter, r *http.Request) {
	name, id := r.PathValue("name"), r.PathValue("id")
	if err := s.opt.Daemon.RemoveOutput(name, id); err != nil {
		s.fail(w, r, err)
		return
	}
	s.did(r, "output removed", "route", name, "output", id)
	w.WriteHeader(http.StatusNoContent)
}

// did logs what somebody had the daemon do.
func (s *Server) did(r *http.Request, what string, args ...any) {
	s.log.Info("control: "+what, append(args, "remote", r.RemoteAddr)...)
}
