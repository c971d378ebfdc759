package control

import "strings"

// Operations are "METHOD path" of all that is served.
func Operations(s *Server) []string {
	var out []string
	for _, op := range s.operations() {
		out = append(out, op.method+" "+strings.TrimSuffix(op.path, "{$}"))
	}
	return out
}

