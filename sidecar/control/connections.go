package control

import (
	"cmp"
	"slices"

	"github.com/weirline/weirline/sidecar/route"
)

// Directions of a connection, as the daemon sees it.
const (
	Receive = "receive" // of a route's source
	Send    = "send"    // of an output
)

// Connection is one session of a route with the place it has there.
type Connection struct {
	Route     string `json:"route"`
	Direction string `json:"direction"` // Receive or Send
	Output    string `json:"output,omitempty"`
	URL       string `json:"url"` // of the end
	route.SessionSnapshot
}

// routesOf is the daemon's list with [] where a list is empty: null would be
// one more case for every client. Sessions are in the order of their coming: a
// row that moves while somebody aims at its button is the wrong one.
func routesOf(d Daemon) []route.Snapshot {
	routes := append([]route.Snapshot{}, d.Routes()...)
	for i := range routes {
		r := &routes[i]
		if r.Source.State == "" { // added a moment ago
			r.Source.State, r.Source.Since = route.Idle, r.Time
		}
		list(&r.Source)
		r.Outputs = append([]route.EndSnapshot{}, r.Outputs...)
		for k := range r.Outputs {
			list(&r.Outputs[k])
		}
		r.Spares = append([]route.EndSnapshot(nil), r.Spares...)
		for k := range r.Spares {
			list(&r.Spares[k])
		}
	}
	return routes
}

func list(e *route.EndSnapshot) {
	e.Sessions = append([]route.SessionSnapshot{}, e.Sessions...)
	slices.SortStableFunc(e.Sessions, func(a, b route.SessionSnapshot) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID)) // c9 came before c10
	})
}

func listenersOf(d Daemon) []ListenerSnapshot {
	out := append([]ListenerSnapshot{}, d.Listeners()...)
	for i := range out {
		if out[i].Refused == nil {
			out[i].Refused = map[string]uint64{}
		}
	}
	return out
}

// connections lists the sessions of all routes, in the order of the routes.
func connections(routes []route.Snapshot) []Connection {
	out := []Connection{}
	add := func(r route.Snapshot, e route.EndSnapshot, direction, output string) {
		for _, s := range e.Sessions {
			out = append(out, Connection{r.Name, direction, output, e.URL, s})
		}
	}
	for _, r := range routes {
		add(r, r.Source, Receive, "")
		for _, e := range r.Spares {
			add(r, e, Receive, "")
		}
		for _, e := range r.Outputs {
			add(r, e, Send, e.ID)
		}
	}
	return out
}
