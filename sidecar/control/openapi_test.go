package control_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/weirline/weirline/docs"
	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/api/fake"
)

// call is one request that the file describes, and the status it is to have.
type call struct {
	method, path string // path as in the file
	params       map[string]string
	query, body  string
	want         int
}

// calls exercise every operation; the order matters where one takes away what
// another one needs.
var calls = []call{
	{"GET", "/v1/status", nil, "", "", 200},
	{"GET", "/v1/routes", nil, "", "", 200},
	{"POST", "/v1/routes", nil, "", `{"name":"new/one","sources":[{"url":"srt://:9500?mode=listener"}],"outputs":[{"url":"udp://127.0.0.1:5000"}],"max-age":"2s"}`, 201},
	{"POST", "/v1/routes", nil, "", `{"name":"new/one","sources":[{"url":"srt://:9500?mode=listener"}]}`, 409},
	{"GET", "/v1/routes/{name}", map[string]string{"name": "new/one"}, "", "", 200},
	{"GET", "/v1/routes/{name}", map[string]string{"name": "nobody"}, "", "", 404},
	{"POST", "/v1/routes/{name}/outputs", map[string]string{"name": "new/one"}, "", `{"url":"srt://192.0.2.1:9000"}`, 201},
	{"DELETE", "/v1/routes/{name}/outputs/{id}", map[string]string{"name": "new/one", "id": "o2"}, "", "", 204},
	{"DELETE", "/v1/routes/{name}/outputs/{id}", map[string]string{"name": "new/one", "id": "o2"}, "", "", 404},
	{"DELETE", "/v1/routes/{name}", map[string]string{"name": "new/one"}, "", "", 204},
	{"GET", "/v1/connections", nil, "", "", 200},
	{"GET", "/v1/connections/{id}", map[string]string{"id": "c2"}, "", "", 200},
	{"GET", "/v1/connections/{id}/history", map[string]string{"id": "c2"}, "", "", 200},
	{"GET", "/v1/connections/{id}/trace", map[string]string{"id": "c2"}, "", "", 200},
	{"GET", "/v1/connections/{id}/trace", map[string]string{"id": "c2"}, "format=text", "", 200},
	{"GET", "/v1/connections/{id}/trace", map[string]string{"id": "c2"}, "format=json", "", 200},
	{"DELETE", "/v1/connections/{id}", map[string]string{"id": "c2"}, "", "", 204},
	{"DELETE", "/v1/connections/{id}", map[string]string{"id": "c2"}, "", "", 404},
	{"GET", "/v1/listeners", nil, "", "", 200},
	{"GET", "/v1/log-level", nil, "", "", 200},
	{"PUT", "/v1/log-level", nil, "", `{"level":"debug"}`, 200},
	{"POST", "/v1/reload", nil, "", "", 200},
	{"GET", "/v1/events", nil, "since=1", "", 200},
	{"GET", "/v1/events/stream", nil, "since=0", "", 200},
	{"GET", "/v1/stats", nil, "", "", 200},
	{"GET", "/v1/stats/stream", nil, "events=0", "", 200},
	{"POST", "/v1/login", nil, "", `{"token":"` + token + `"}`, 204},
	{"POST", "/v1/logout", nil, "", "", 204},
	{"GET", "/v1/openapi.yaml", nil, "", "", 200},
	{"GET", "/metrics", nil, "", "", 200},
	{"GET", "/healthz", nil, "", "", 200},
	{"GET", "/readyz", nil, "", "", 200},
	{"GET", "/", nil, "", "", 200},
	{"GET", "/app.css", nil, "", "", 200},
	{"GET", "/app.js", nil, "", "", 200},
}

const token = "0123456789abcdef0123"

// startServer serves a fake daemon's control surface with a token.
func startServer(t *testing.T, o control.Options) *httptest.Server {
	t.Helper()
	return startServerOf(t, newServer(t, o))
}

func startServerOf(t *testing.T, s *control.Server) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(srv.Close)
	return srv
}

func newServer(t *testing.T, o control.Options) *control.Server {
	t.Helper()
	s, err := control.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func options(d control.Daemon) control.Options {
	return control.Options{
		Daemon: d, Token: token, Loopback: true,
		Trace: func(_ *srtcore.Conn, format string, w io.Writer) error {
			_, err := fmt.Fprintf(w, `{"format":%q}`, format)
			return err
		},
		Health: func(v any) (control.TSHealth, bool) {
			m, ok := v.(map[string]any)
			return control.TSHealth{ContinuityErrors: uint64(m["continuityErrors"].(int))}, ok
		},
	}
}

func loadSpec(t *testing.T) *openapi3.T {
	t.Helper()
	spec, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestEveryOperationIsAsTheFileSays(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "text/html", "text/css", "text/javascript"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
		defer openapi3filter.UnregisterBodyDecoder(kind)
	}
	spec := loadSpec(t)
	srv := startServer(t, options(fake.New(3)))
	done := map[string]bool{}
	for _, c := range calls {
		name := c.method + " " + c.path
		done[name] = true
		t.Run(fmt.Sprintf("%s=%d", name, c.want), func(t *testing.T) { exercise(t, spec, srv.URL, c) })
	}
	served := map[string]bool{}
	for _, op := range control.Operations(newServer(t, options(fake.New(0)))) {
		served[op] = true
	}
	for path, item := range spec.Paths.Map() {
		for method := range item.Operations() {
			name := method + " " + path
			if !done[name] {
				t.Errorf("%s of openapi.yaml is not exercised: add it to calls", name)
			}
			if !served[name] {
				t.Errorf("%s of openapi.yaml is not served", name)
			}
			delete(served, name)
		}
	}
	for name := range served {
		t.Errorf("%s is served and not in openapi.yaml", name)
	}
}

// exercise sends c and holds request and answer against the file.
func exercise(t *testing.T, spec *openapi3.T, base string, c call) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	path := c.path
	for k, v := range c.params {
		path = strings.ReplaceAll(path, "{"+k+"}", strings.ReplaceAll(v, "/", "%2F"))
	}
	req := mustRequest(t, ctx, c.method, base+path+"?"+c.query, c.body)
	req.Header.Set("Authorization", "Bearer "+token)
	item := spec.Paths.Value(c.path)
	if item == nil || item.GetOperation(c.method) == nil {
		t.Fatal("not in openapi.yaml")
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: c.params,
		Route: &routers.Route{Spec: spec, Path: c.path, PathItem: item, Method: c.method, Operation: item.GetOperation(c.method)},
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
		},
	}
	if err := openapi3filter.ValidateRequest(ctx, in); err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := readAnswer(t, resp)
	if resp.StatusCode != c.want {
		t.Fatalf("status %d, want %d: %s", resp.StatusCode, c.want, body)
	}
	if strings.Contains(string(body), fake.Secret) || strings.Contains(string(body), token) {
		t.Errorf("the answer shows a secret: %s", body)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header, Options: in.Options}
	if err := openapi3filter.ValidateResponse(ctx, out.SetBodyBytes(body)); err != nil {
		t.Errorf("%v\n%s", err, body)
	}
}

// readAnswer reads all of it, or the beginning of a stream.
func readAnswer(t *testing.T, resp *http.Response) []byte {
	t.Helper()
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	var body []byte
	buf := make([]byte, 64<<10)
	for !bytes.Contains(body, []byte("\n\n")) {
		n, err := resp.Body.Read(buf)
		body = append(body, buf[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return body
}

func mustRequest(t *testing.T, ctx context.Context, method, url, body string) *http.Request {
	t.Helper()
	var r io.Reader = http.NoBody
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(url, "?"), r)
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}
