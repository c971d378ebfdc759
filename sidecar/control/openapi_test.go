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

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/weirline/weirline/docs"
	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/api/fake"
)

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

// TestTheFileListsWhatIsServed; what each operation answers is held to the file by
// tests/api, with a daemon that runs.
func TestTheFileListsWhatIsServed(t *testing.T) {
	spec, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, op := range control.Operations(newServer(t, options(fake.New(0)))) {
		served[op] = true
	}
	for path, item := range spec.Paths.Map() {
		for method := range item.Operations() {
			name := method + " " + path
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
