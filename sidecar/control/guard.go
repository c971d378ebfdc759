package control

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// origin is a web page's: scheme, host and port.
type origin struct {
	text string // scheme://host[:port], lower case
	host string // without the port
}

func parseOrigin(text string) (origin, error) {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/") {
		return origin{}, fmt.Errorf("control.origins: %q is not a page's origin: allowed scheme://host[:port], such as https://gateway.example", text)
	}
	return origin{u.Scheme + "://" + u.Host, u.Hostname()}, nil
}

// foreign says why the request must not be served, or nothing. A server on
// loopback that needs no token could be driven by any page the operator looks
// at: browsers give themselves away by Origin and Sec-Fetch-Site, and a host
// name that points here (DNS rebinding) by Host. Health checks are harmless.
func (s *Server) foreign(w http.ResponseWriter, r *http.Request) (status int, why string) {
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		return 0, ""
	}
	if !s.ownHost(r) {
		return http.StatusMisdirectedRequest, fmt.Sprintf("The Host header %q does not name this server: use its IP address or localhost, or add http://%s to control.origins.", clip(r.Host), clip(r.Host))
	}
	from := r.Header.Values("Origin")
	switch {
	case len(from) > 1:
		return http.StatusForbidden, "More than one Origin header."
	case len(from) == 1 && s.granted(from[0]):
		allowOrigin(w, from[0])
		return 0, ""
	case len(from) == 1 && !sameOrigin(from[0], r):
		return http.StatusForbidden, fmt.Sprintf("Pages of %q may not use this server. If they should, add it to control.origins.", clip(from[0]))
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return 0, ""
	default:
		if opensPage(r) {
			return 0, ""
		}
		return http.StatusForbidden, fmt.Sprintf("Requests that a page of another origin makes (Sec-Fetch-Site: %s) are not served.", clip(site))
	}
}

// opensPage reports whether the browser follows a link to our page, which is
// the same for everybody and may not be framed.
func opensPage(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func (s *Server) granted(o string) bool {
	return slices.ContainsFunc(s.origins, func(g origin) bool { return g.text == strings.ToLower(o) })
}

// sameOrigin compares with the address the request came for. The scheme is not
// known here: a proxy may speak TLS for us.
func sameOrigin(o string, r *http.Request) bool {
	u, err := url.Parse(o)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

// allowOrigin lets a page of control.origins read the answer. Cookies stay out
// of it: such a page sends the token.
func allowOrigin(w http.ResponseWriter, o string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", o)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE, OPTIONS")
	h.Set("Access-Control-Expose-Headers", "Location")
	h.Set("Access-Control-Max-Age", "600")
}

func (s *Server) ownHost(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local != nil && local.Network() == "unix" {
		return true // no browser gets here
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || slices.ContainsFunc(s.origins, func(g origin) bool { return g.host == host }) {
		return true
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	tcp, ok := local.(*net.TCPAddr)
	return a.IsLoopback() || (ok && a.Unmap() == tcp.AddrPort().Addr().Unmap())
}

// clip bounds what an answer repeats of a request.
func clip(text string) string {
	const most = 120
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}
