package control_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/api/fake"
)

var withToken = map[string]string{"Authorization": "Bearer " + token}

// TestProblems: every refusal names the value, what is allowed and what helps.
func TestProblems(t *testing.T) {
	d := fake.New(1)
	d.ReloadError = fake.ErrReload
	srv := startServer(t, options(d))
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               []string
	}{
		{"GET", "/v1/nothing", "", 404, []string{`"/v1/nothing"`, "openapi.yaml"}},
		{"PATCH", "/v1/routes", "", 405, []string{"PATCH", "GET, HEAD, OPTIONS, POST"}},
		{"POST", "/v1/routes", "{", 400, []string{"not JSON", "byte"}},
		{"POST", "/v1/routes", "{} {}", 400, []string{"send one object"}},
		{"POST", "/v1/routes", "[]", 422, []string{"route: is a list", "allowed keys"}},
		{"POST", "/v1/routes", "{}", 422, []string{"route.name: is missing", "route.sources: is missing"}},
		{"POST", "/v1/routes", `{"name":"a","sorces":[]}`, 422, []string{`"sorces"`, `did you mean "sources"`, "sources, outputs, failover-after"}},
		{"POST", "/v1/routes", `{"name":"a","sources":[{"url":7}]}`, 422, []string{"route.sources[0].url: is not a URL", "srt://"}},
		{"POST", "/v1/routes", `{"name":"a","sources":[{"url":"srt://h:1"}],"max-age":"5"}`, 422, []string{`route.max-age: "5" has no unit`, "500ms"}},
		{"POST", "/v1/routes", `{"name":"a","sources":[{"url":"srt://h:1"}],"max-age":5}`, 422, []string{`route.max-age: "5" has no unit`, "500ms"}},
		{"POST", "/v1/routes", `{"name":"a","sources":[{"url":"srt://h:1"}],"queue":1.5}`, 422, []string{`route.queue: "1.5"`, "65536, 512KiB"}},
		{"POST", "/v1/routes", `{"name":"a","sources":{"url":"srt://h:1"}}`, 422, []string{"route.sources: is a group of keys", "a list"}},
		{"POST", "/v1/routes", `{"name":"a","sources":[{"url":"srt://"}]}`, 422, []string{"route.sources[0].url", `"port" is missing`}},
		{"POST", "/v1/routes", `{"name":"a","sources":[{"url":"` + fake.Refused + `"}]}`, 422, []string{"sources[0].url", "(hidden)"}},
		{"POST", "/v1/routes", `{"name":"` + long + `"}`, 413, []string{"1048576 bytes"}},
		{"POST", "/v1/routes/studio-a/outputs", `{}`, 422, []string{"output: says nothing", "url or play"}},
		{"POST", "/v1/routes/none/outputs", `{"url":"srt://h:1"}`, 404, []string{`"none"`}},
		{"GET", "/v1/connections/none", "", 404, []string{`"none"`, "/v1/connections"}},
		{"GET", "/v1/connections/none/history", "", 404, []string{`"none"`}},
		{"GET", "/v1/connections/none/trace", "", 404, []string{`"none"`}},
		{"GET", "/v1/connections/c1/trace?format=avi", "", 400, []string{"format=avi", "pcapng, text, json"}},
		{"PUT", "/v1/log-level", `{"level":"loud"}`, 422, []string{`"loud"`, "debug, info, warn, error"}},
		{"GET", "/v1/events?since=-1", "", 400, []string{"since=-1", "from 0"}},
		{"GET", "/v1/events?wait=31", "", 400, []string{"wait=31", "to 30"}},
		{"POST", "/v1/reload", "", 422, []string{"weirline.yaml:12", "sourcs"}},
	} {
		status, body, head := ask(t, http.DefaultClient, c.method, srv.URL+c.path, c.body, withToken)
		name := c.method + " " + c.path
		var p control.Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || head.Get("Content-Type") != "application/problem+json" || p.Status != c.status || p.Title == "" {
			t.Errorf("%s: not a problem: %v %.200s", name, err, body)
		}
		if status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, status, c.status, p.Detail)
		}
		for _, w := range c.want {
			if !strings.Contains(p.Detail, w) {
				t.Errorf("%s: %q does not say %q", name, p.Detail, w)
			}
		}
		if strings.Contains(body, fake.Secret) {
			t.Errorf("%s shows a passphrase: %s", name, body)
		}
		if c.status == 405 && head.Get("Allow") != "GET, HEAD, OPTIONS, POST" {
			t.Errorf("%s: Allow %q", name, head.Get("Allow"))
		}
	}
}

func TestBodyMustBeJSONByName(t *testing.T) {
	srv := startServer(t, options(fake.New(0)))
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded"} {
		h := map[string]string{"Authorization": "Bearer " + token, "Content-Type": kind}
		if status, _, _ := ask(t, http.DefaultClient, "POST", srv.URL+"/v1/routes", `{"name":"a"}`, h); status != 415 {
			t.Errorf("%q: %d, want 415", kind, status)
		}
	}
}

func TestHeadHasNoBody(t *testing.T) {
	srv := startServer(t, options(fake.New(0)))
	for _, path := range []string{"/v1/status", "/", "/metrics", "/healthz", "/v1/events?wait=30", "/v1/stats/stream", "/v1/events/stream"} {
		status, body, _ := ask(t, http.DefaultClient, "HEAD", srv.URL+path, "", withToken)
		if status != 200 || body != "" {
			t.Errorf("HEAD %s: %d %q", path, status, body)
		}
	}
}

// TestHeadersWithoutEnd: a client that sends headers for ever is told off and
// cut; others do not notice.
func TestHeadersWithoutEnd(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, options(fake.New(0)))
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), ln) }()
	t.Cleanup(func() { <-done })
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(c, "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n")
	sent := 0
	line := "X-More: " + strings.Repeat("y", 1000) + "\r\n"
	for sent < 64<<20 { // it ends long before
		n, err := io.WriteString(c, line)
		sent += n
		if err != nil {
			break
		}
	}
	if sent >= 64<<20 {
		t.Error("64 MiB of headers were taken")
	}
	if first, _ := bufio.NewReader(c).ReadString('\n'); first != "" && !strings.Contains(first, "431") {
		t.Errorf("answer %q", first)
	}
	if status, _, _ := ask(t, http.DefaultClient, "GET", "http://"+ln.Addr().String()+"/healthz", "", nil); status != 200 {
		t.Errorf("another client: %d", status)
	}
}

// TestFaultIsAProblem: a fault of the daemon ends a request, not the process.
func TestFaultIsAProblem(t *testing.T) {
	o := options(faulty{fake.New(0)})
	srv := startServer(t, o)
	status, body, _ := ask(t, http.DefaultClient, "GET", srv.URL+"/v1/routes", "", withToken)
	if status != 500 || strings.Contains(body, "boom") {
		t.Errorf("%d %s", status, body)
	}
}
