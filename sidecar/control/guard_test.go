package control_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/api/fake"
)

// ask sends a request with headers and returns status and text.
func ask(t *testing.T, c *http.Client, method, url, body string, headers map[string]string) (int, string, http.Header) {
	t.Helper()
	req := mustRequest(t, t.Context(), method, url, body)
	for k, v := range headers {
		if k == "Host" {
			req.Host = v
			continue
		}
		req.Header.Set(k, v)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, string(readAnswer(t, resp)), resp.Header
}

func TestOtherOriginsAreKeptOut(t *testing.T) {
	o := options(fake.New(1))
	o.Token, o.Origins = "", []string{"https://Gateway.example"}
	srv := startServer(t, o)
	own := strings.TrimPrefix(srv.URL, "http://")
	for name, c := range map[string]struct {
		path    string
		headers map[string]string
		want    int
	}{
		"a program":                   {"/v1/status", nil, 200},
		"our page":                    {"/v1/status", map[string]string{"Origin": srv.URL, "Sec-Fetch-Site": "same-origin"}, 200},
		"typed in":                    {"/v1/status", map[string]string{"Sec-Fetch-Site": "none"}, 200},
		"localhost":                   {"/v1/status", map[string]string{"Host": "localhost:1"}, 200},
		"another page":                {"/v1/status", map[string]string{"Origin": "https://evil.example"}, 403},
		"another page, by fetch":      {"/v1/status", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"another port of this host":   {"/v1/status", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, 403},
		"a sandboxed frame":           {"/v1/status", map[string]string{"Origin": "null"}, 403},
		"rebinding":                   {"/v1/status", map[string]string{"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, 421},
		"rebinding by number":         {"/v1/status", map[string]string{"Host": "192.0.2.1"}, 421},
		"rebinding to any address":    {"/v1/status", map[string]string{"Host": "0.0.0.0:80"}, 421},
		"our address in another name": {"/v1/status", map[string]string{"Host": "127.0.0.1.evil.example"}, 421},
		"our name in another name":    {"/v1/status", map[string]string{"Host": "localhost.evil.example:80"}, 421},
		"a granted page, deeper":      {"/v1/status", map[string]string{"Origin": "https://gateway.example.evil.example"}, 403},
		"a granted page, no TLS":      {"/v1/status", map[string]string{"Origin": "http://gateway.example"}, 403},
		"a link from a page to JSON":  {"/v1/routes", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403},
		"a granted page":              {"/v1/status", map[string]string{"Origin": "https://gateway.example", "Sec-Fetch-Site": "cross-site"}, 200},
		"a granted host":              {"/v1/status", map[string]string{"Host": "gateway.example"}, 200},
		"a link to our page":          {"/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		"our page in a frame":         {"/", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		"a link to the API":           {"/v1/status", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403},
		"a health check by any name":  {"/healthz", map[string]string{"Host": "pod-7"}, 200},
		"our address in another case": {"/v1/status", map[string]string{"Host": strings.ToUpper(own)}, 200},
	} {
		status, body, head := ask(t, http.DefaultClient, "GET", srv.URL+c.path, "", c.headers)
		if status != c.want {
			t.Errorf("%s: %d, want %d: %s", name, status, c.want, body)
		}
		if name == "a granted page" && head.Get("Access-Control-Allow-Origin") != "https://gateway.example" {
			t.Errorf("%s may not read: %v", name, head)
		}
		if c.want != 200 && head.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s may read", name)
		}
	}
	status, _, head := ask(t, http.DefaultClient, "OPTIONS", srv.URL+"/v1/routes/x", "", map[string]string{"Origin": "https://gateway.example", "Access-Control-Request-Method": "DELETE"})
	if status != 204 || !strings.Contains(head.Get("Access-Control-Allow-Methods"), "DELETE") {
		t.Errorf("preflight: %d %v", status, head)
	}
}

func TestToken(t *testing.T) {
	srv := startServer(t, options(fake.New(1)))
	for name, c := range map[string]struct {
		headers map[string]string
		want    int
	}{
		"none":      {nil, 401},
		"right":     {map[string]string{"Authorization": "Bearer " + token}, 200},
		"wrong":     {map[string]string{"Authorization": "Bearer " + token + "x"}, 401},
		"prefix":    {map[string]string{"Authorization": "Bearer " + token[:5]}, 401},
		"empty":     {map[string]string{"Authorization": "Bearer "}, 401},
		"basic":     {map[string]string{"Authorization": "Basic " + token}, 401},
		"as cookie": {map[string]string{"Cookie": "weirline=" + token}, 401},
	} {
		for _, path := range []string{"/v1/status", "/metrics", "/v1/stats/stream"} {
			status, body, head := ask(t, http.DefaultClient, "GET", srv.URL+path, "", c.headers)
			if status != c.want || strings.Contains(body, token) {
				t.Errorf("%s: %s: %d, want %d: %s", name, path, status, c.want, body)
			}
			if c.want == 401 && head.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: %s: no WWW-Authenticate", name, path)
			}
		}
	}
	for _, path := range []string{"/", "/app.js", "/app.css", "/healthz", "/readyz", "/v1/openapi.yaml"} {
		if status, _, _ := ask(t, http.DefaultClient, "GET", srv.URL+path, "", nil); status != 200 {
			t.Errorf("%s wants the token: %d", path, status)
		}
	}
}

func TestLogin(t *testing.T) {
	srv := startServer(t, options(fake.New(1)))
	status, body, head := ask(t, http.DefaultClient, "POST", srv.URL+"/v1/login", `{"token":"no"}`, nil)
	if status != 403 || head.Get("Set-Cookie") != "" || !strings.Contains(body, "control.token") {
		t.Errorf("wrong token: %d %s", status, body)
	}
	_, _, head = ask(t, http.DefaultClient, "POST", srv.URL+"/v1/login", `{"token":"`+token+`"}`, nil)
	set := head.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="} {
		if !strings.Contains(set, want) {
			t.Errorf("cookie %q lacks %s", set, want)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	if strings.Contains(cookie, token) {
		t.Error("the cookie is the token")
	}
	if status, _, _ := ask(t, http.DefaultClient, "GET", srv.URL+"/v1/status", "", map[string]string{"Cookie": cookie}); status != 200 {
		t.Errorf("with the cookie: %d", status)
	}
	forged := cookie[:len(cookie)-2] + "AA"
	if status, _, _ := ask(t, http.DefaultClient, "GET", srv.URL+"/v1/status", "", map[string]string{"Cookie": forged}); status != 401 {
		t.Errorf("with a forged cookie: %d", status)
	}
	other := startServer(t, options(fake.New(1)))
	if status, _, _ := ask(t, http.DefaultClient, "GET", other.URL+"/v1/status", "", map[string]string{"Cookie": cookie}); status != 401 {
		t.Errorf("with the cookie of another process: %d", status)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]control.Options{
		"Daemon is missing":           {Loopback: true},
		"set a token of at least 16":  {Daemon: fake.New(0)},
		"allowed are 16 or more":      {Daemon: fake.New(0), Token: "short"},
		`"example.com" is not a page`: {Daemon: fake.New(0), Loopback: true, Origins: []string{"example.com"}},
		`"https://a.example/x" is`:    {Daemon: fake.New(0), Loopback: true, Origins: []string{"https://a.example/x"}},
	} {
		if _, err := control.NewServer(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestUnixSocket: no browser gets there, so any Host will do; it serves and
// stops.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	o := options(fake.New(1))
	o.Token = ""
	s := newServer(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	if status, body, _ := ask(t, c, "GET", "http://anything.example/v1/status", "", nil); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	resp, err := c.Do(mustRequest(t, t.Context(), "GET", "http://x/v1/stats/stream", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	readAnswer(t, resp)
	cancel() // with a stream open
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	c.CloseIdleConnections()
}
