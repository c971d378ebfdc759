package control

import (
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
