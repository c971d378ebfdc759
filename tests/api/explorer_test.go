package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/weirline/weirline/docs"
	"github.com/weirline/weirline/tests/served"
)

func TestMain(m *testing.M) { os.Exit(served.Main(m)) }

// What nobody is to see in an answer.
const (
	token      = "0123456789abcdef-token"
	passphrase = "correct-horse-battery"
)

// explorer sends requests that docs/openapi.yaml describes and holds what comes
// to it. It remembers which answers it has seen.
type explorer struct {
	*served.Daemon
	t    *testing.T
	spec *openapi3.T
	seen map[string]map[int]bool // by operation, "METHOD path" as in the file
}

func newExplorer(t *testing.T, d *served.Daemon) *explorer {
	t.Helper()
	for _, kind := range []string{"text/event-stream", "text/html", "text/css", "text/javascript"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
		t.Cleanup(func() { openapi3filter.UnregisterBodyDecoder(kind) })
	}
	spec, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return &explorer{Daemon: d, t: t, spec: spec, seen: map[string]map[int]bool{}}
}

// operations are "METHOD path" of all that the file describes.
func (x *explorer) operations() map[string]*openapi3.Operation {
	all := map[string]*openapi3.Operation{}
	for path, item := range x.spec.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+path] = op
		}
	}
	return all
}

// request is one of them: what stands in the braces of its path, query, body,
// and headers that are not as usual.
type request struct {
	in      map[string]string
	query   string
	body    string
	headers map[string]string
	from    *http.Client // nil: the usual one
}

// want sends a request and holds the answer to the file, and its status to this.
func (x *explorer) want(status int, op string, r request) (body string, head http.Header) {
	x.t.Helper()
	got, body, head := x.try(status, op, r)
	if got != status {
		x.t.Fatalf("%s with %.300v: status %d, want %d: %s", op, r, got, status, body)
	}
	return body, head
}

// try is want that leaves the status to the test; what is wrong with a request
// that hopes for a success is no answer's fault.
func (x *explorer) try(hope int, op string, r request) (status int, body string, head http.Header) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), served.Patience)
	defer cancel()
	method, path, _ := strings.Cut(op, " ")
	in := x.input(op, r)
	in.Request = x.request(ctx, method, path, r)
	if hope < 400 {
		if err := openapi3filter.ValidateRequest(ctx, in); err != nil {
			x.t.Fatalf("%s: the request is not as the file says: %v", op, err)
		}
	}
	from := r.from
	if from == nil {
		from = http.DefaultClient
	}
	resp, err := from.Do(in.Request)
	if err != nil {
		x.t.Fatalf("%s: %v", op, err)
	}
	defer resp.Body.Close()
	text := x.read(resp)
	x.check(in, resp, text, op)
	return resp.StatusCode, string(text), resp.Header
}

func (x *explorer) input(op string, r request) *openapi3filter.RequestValidationInput {
	x.t.Helper()
	method, path, _ := strings.Cut(op, " ")
	item := x.spec.Paths.Value(path)
	if item == nil || item.GetOperation(method) == nil {
		x.t.Fatalf("%s is not in openapi.yaml", op)
	}
	return &openapi3filter.RequestValidationInput{
		PathParams: r.in,
		Route:      &routers.Route{Spec: x.spec, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)},
		Options:    &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
}

func (x *explorer) request(ctx context.Context, method, path string, r request) *http.Request {
	x.t.Helper()
	for k, v := range r.in {
		path = strings.ReplaceAll(path, "{"+k+"}", url.PathEscape(v))
	}
	if r.query != "" {
		path += "?" + r.query
	}
	req := x.Request(ctx, method, path, r.body)
	for k, v := range r.headers {
		req.Header.Set(k, v)
	}
	return req
}

// read takes all of an answer, or the first event of each kind of a stream.
func (x *explorer) read(resp *http.Response) []byte {
	x.t.Helper()
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			x.t.Fatal(err)
		}
		return text
	}
	var text []byte
	buf := make([]byte, 64<<10)
	for !bytes.HasSuffix(text, []byte("\n\n")) {
		n, err := resp.Body.Read(buf)
		text = append(text, buf[:n]...)
		if err != nil {
			x.t.Fatalf("the stream ended: %v after %q", err, text)
		}
	}
	return text
}

// check holds an answer to what the file lists for the operation.
func (x *explorer) check(in *openapi3filter.RequestValidationInput, resp *http.Response, text []byte, op string) {
	x.t.Helper()
	status := resp.StatusCode
	if in.Route.Operation.Responses.Status(status) == nil {
		x.t.Errorf("%s: the file does not list %d for it", op, status)
	}
	for _, secret := range []string{token, passphrase} {
		if bytes.Contains(text, []byte(secret)) {
			x.t.Errorf("%s: %d shows a secret: %s", op, status, text)
		}
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: status, Header: resp.Header, Options: in.Options}
	if err := openapi3filter.ValidateResponse(in.Request.Context(), out.SetBodyBytes(text)); err != nil {
		x.t.Errorf("%s: %d is not as the file says: %v\n%.2000s", op, status, err, text)
	}
	if status >= 400 && status != http.StatusServiceUnavailable {
		var p struct {
			Title, Detail string
			Status        int
		}
		if err := json.Unmarshal(text, &p); err != nil || p.Status != status || p.Title == "" || p.Detail == "" {
			x.t.Errorf("%s: %d is no problem: %v: %s", op, status, err, text)
		}
	}
	if x.seen[op] == nil {
		x.seen[op] = map[int]bool{}
	}
	x.seen[op][status] = true
}

// events holds each event of a stream to the schema of its kind.
func (x *explorer) events(stream string, schemas map[string]string) {
	x.t.Helper()
	for block := range strings.SplitSeq(strings.TrimSpace(stream), "\n\n") {
		kind, data := "", ""
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "event":
				kind = value
			case "data":
				data = value
			}
		}
		schema := x.spec.Components.Schemas[schemas[kind]]
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil || schema == nil {
			x.t.Errorf("event %q: %v: %s", kind, err, data)
			continue
		}
		if err := schema.Value.VisitJSON(v); err != nil {
			x.t.Errorf("event %q is not as the file says: %v\n%s", kind, err, data)
		}
	}
}

// wantAll complains of every answer in the file that was not seen.
func (x *explorer) wantAll() {
	x.t.Helper()
	operations := x.operations()
	for _, op := range slices.Sorted(maps.Keys(operations)) {
		for _, status := range slices.Sorted(maps.Keys(operations[op].Responses.Map())) {
			if code, err := strconv.Atoi(status); err == nil && !x.seen[op][code] {
				x.t.Errorf("%s: its answer %d was not exercised", op, code)
			}
		}
	}
}

// decode reads JSON.
func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return v
}

// asIf is a client with an address of its own.
func asIf(t *testing.T, address string) *http.Client {
	t.Helper()
	tr := &http.Transport{DialContext: dialerFrom(address, 10*time.Second)}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func bearer(guess string) map[string]string {
	return map[string]string{"Authorization": fmt.Sprintf("Bearer %s", guess)}
}
