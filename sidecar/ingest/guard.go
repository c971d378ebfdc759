package ingest

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// foreign says why the request must not be served, or nothing. A loopback
// server that calls any SRT host could be driven by any web page the user looks
// at: browsers give themselves away by Origin and Sec-Fetch headers, and a host
// name that points here (DNS rebinding) by Host.
func (h *Handler) foreign(r *http.Request) string {
	if len(r.Header.Values("Origin")) > 0 {
		return "Requests of web pages (Origin header) are not served."
	}
	for k := range r.Header {
		if strings.HasPrefix(k, "Sec-Fetch-") {
			return "Requests of web browsers (" + k + " header) are not served."
		}
	}
	if !h.ownHost(r) {
		return "The Host header does not name this daemon: use 127.0.0.1 or localhost."
	}
	return ""
}

func (h *Handler) ownHost(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || slices.Contains(h.Hosts, host) {
		return true
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return a.IsLoopback() || a == localAddr(r)
}

// localAddr is the address of this machine that the client called.
func localAddr(r *http.Request) netip.Addr {
	tcp, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}
