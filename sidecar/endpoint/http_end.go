package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// httpEnd is an HTTP server that we call: a source is fetched with GET, an output
// is sent in the body of one request. Our own options stand behind a #, which is
// never sent: what stands behind the ? is the server's.
type httpEnd struct {
	cutter
	url         *url.URL
	source      bool
	again       bool
	method      string
	contentType string
	timeout     time.Duration
	client      *http.Client
}

const (
	// httpTimeout is how long a server may be silent.
	httpTimeout = 10 * time.Second
	// httpAsk is how long an output waits for the server's leave to send
	// (100-continue); then it sends.
	httpAsk = time.Second
	// mostHead bounds the head of a reply.
	mostHead = 64 << 10
)

func parseHTTP(raw string, source bool) (*httpEnd, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" { // its text may hold a password
		return nil, &URLError{Problem: "http:// needs a host, as in http://192.0.2.7:8000/live.ts; a lone % must be written %25"}
	}
	e := &httpEnd{url: u, source: source, again: true, method: http.MethodGet, timeout: httpTimeout}
	allowed := []string{"reconnect", "timeout"}
	if !source {
		e.method, e.contentType = http.MethodPut, "video/mp2t"
		allowed = append(allowed, "method", "content_type")
	}
	opts, err := options(u.EscapedFragment(), allowed...)
	if err != nil {
		return nil, &URLError{Problem: "behind the #: " + err.Error()}
	}
	for k, v := range opts {
		if err := e.set(k, v); err != nil {
			return nil, err
		}
	}
	u.Fragment, u.RawFragment = "", ""
	e.client = e.newClient()
	return e, nil
}

func (e *httpEnd) set(k, v string) (err error) {
	switch k {
	case "reconnect":
		e.again, err = parseBool(k, v)
	case "timeout":
		if e.timeout, err = parseDuration(k, v); err == nil && e.timeout < 100*time.Millisecond {
			err = &URLError{Problem: fmt.Sprintf("option %q = %q is refused: at least 100ms", k, v)}
		}
	case "method":
		if e.method = strings.ToUpper(v); e.method != http.MethodPut && e.method != http.MethodPost {
			err = &URLError{Problem: fmt.Sprintf("option %q = %q is refused: allowed PUT, POST", k, v)}
		}
	case "content_type":
		if e.contentType = v; strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
			err = &URLError{Problem: fmt.Sprintf("option %q is refused: allowed is text as in video/mp2t", k)}
		}
	}
	return err
}

// newClient returns one that waits for no part of a reply without end, keeps no
// idle connection, and never repeats a body.
func (e *httpEnd) newClient() *http.Client {
	d := net.Dialer{Timeout: min(e.timeout, 5*time.Second), KeepAliveConfig: keepAlive}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            d.DialContext,
			TLSHandshakeTimeout:    min(e.timeout, 5*time.Second),
			ResponseHeaderTimeout:  e.timeout,
			ExpectContinueTimeout:  httpAsk,
			MaxResponseHeaderBytes: mostHead,
			DisableKeepAlives:      true,
			DisableCompression:     true,
		},
		CheckRedirect: e.redirected,
	}
}

var errRedirects = errors.New("the server redirects for ever")

// redirected follows a source; an output's body cannot be sent a second time.
func (e *httpEnd) redirected(_ *http.Request, via []*http.Request) error {
	switch {
	case !e.source:
		return http.ErrUseLastResponse
	case len(via) >= 5:
		return errRedirects
	}
	return nil
}

// URL implements End. User and query may be secrets.
func (e *httpEnd) URL() string {
	s := e.url.Scheme + "://" + e.url.Host + e.url.EscapedPath()
	if e.url.RawQuery != "" {
		s += "?..."
	}
	return s
}

// Traits implements End. A source that is fetched again is live and waits for
// nobody; one that is fetched once is a stream that may be a file.
func (e *httpEnd) Traits() Traits {
	if e.source && !e.again {
		return Traits{Last: true, StartWait: pipeWait, Patience: pipePatience}
	}
	return Traits{Again: e.again}
}

// Close implements End.
func (e *httpEnd) Close() error { return nil }

// StatusError is a server's refusal.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the server answered %d %s", e.Code, http.StatusText(e.Code)))
}

// SilentError says that a server stopped in the middle.
type SilentError struct{ After time.Duration }

func (e *SilentError) Error() string { return fmt.Sprintf("the server was silent for %v", e.After) }

// Timeout and Temporary make it a net.Error.
func (e *SilentError) Timeout() bool   { return true }
func (e *SilentError) Temporary() bool { return true }

// errOf takes the reason out of what package http returns: its text quotes the
// URL with its query.
func errOf(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil && !errors.Is(why, context.Canceled) {
		return why
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// request makes one whose life is ctx's.
func (e *httpEnd) request(ctx context.Context) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, e.method, e.url.String(), nil)
	if err != nil {
		return nil, errOf(ctx, err)
	}
	req.Header.Set("User-Agent", "weirline")
	return req, nil
}
