// Package served is a daemon as users run it, the built program with a
// configuration file, and the publishers and players that call it over SRT, for
// tests of what it shows and of what it can be told to do.
//
// Lives here: Daemon, Publisher, Player and the stream between the two. May
// import: srtcore, tests/port, tests/proctest. Never: sidecar; the daemon is
// another process.
package served

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// Patience bounds every wait; what is waited for normally takes a fraction.
const Patience = proctest.Patience

// Program is the built program, from Main on.
var Program string

// Main builds the program and runs the tests of a package with it.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weirline-served-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(dir)
	Program = filepath.Join(dir, "weirline")
	build := exec.Command("go", "build", "-o", Program, "../../sidecar/cmd/weirline")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building weirline: %v\n%s", err, out)
		return 2
	}
	return m.Run()
}

// Daemon is one that runs.
type Daemon struct {
	// URL is where API, metrics and page are, without a / at the end.
	URL   string
	Token string // empty: none is asked for
	// HTTP is host:port of the URL form.
	HTTP string
	// File is the configuration.
	File string

	t    *testing.T
	p    *proctest.Process
	head string // of the configuration
}

// Start runs `weirline serve --config` with this configuration, but for listen
// and control, and waits until it answers. It is gone at the end of the test; if
// that failed, what the daemon said is shown.
func Start(t *testing.T, token, yaml string) *Daemon {
	t.Helper()
	d := &Daemon{t: t, Token: token, HTTP: port.Addr(t), File: filepath.Join(t.TempDir(), "weirline.yaml")}
	addr := port.Addr(t)
	d.URL = "http://" + addr
	d.head = fmt.Sprintf("listen: %s\ncontrol: { listen: '%s' }\n", d.HTTP, addr)
	if token != "" {
		d.head = fmt.Sprintf("listen: %s\ncontrol: { listen: '%s', token: '%s' }\n", d.HTTP, addr, token)
	}
	d.Configure(yaml)
	// It is killed at the end: a goodbye would wait for outputs that nobody answers.
	d.p = proctest.Start(t, proctest.Program{Args: []string{Program, "serve", "--config", d.File}, SayAll: true})
	t.Cleanup(func() {
		if d.Gone() {
			t.Errorf("the daemon ended before the test: %v", d.p.Cmd.ProcessState)
		}
	})
	Until(t, "the daemon to answer", func() bool {
		if d.Gone() {
			t.Fatalf("the daemon ended: %v\n%s", d.p.Cmd.ProcessState, d.Said())
		}
		resp, err := http.Get(d.URL + "/healthz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return d
}

// Configure writes the file anew; the daemon sees that by itself within seconds.
func (d *Daemon) Configure(yaml string) {
	d.t.Helper()
	if err := os.WriteFile(d.File, []byte(d.head+yaml), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// Gone tells whether the daemon has ended.
func (d *Daemon) Gone() bool { return !d.p.Running() }

// Said is the daemon's log so far, its last part.
func (d *Daemon) Said() string { return d.p.Said.String() }

// Request makes one to the API, with the token.
func (d *Daemon) Request(ctx context.Context, method, path, body string) *http.Request {
	d.t.Helper()
	var in io.Reader = http.NoBody
	if body != "" {
		in = bytes.NewReader([]byte(body))
	}
	req, err := http.NewRequestWithContext(ctx, method, d.URL+path, in)
	if err != nil {
		d.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if d.Token != "" {
		req.Header.Set("Authorization", "Bearer "+d.Token)
	}
	return req
}

// Do asks the API and returns status and body.
func (d *Daemon) Do(method, path, body string) (int, string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	resp, err := http.DefaultClient.Do(d.Request(ctx, method, path, body))
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// Get reads a JSON answer of the API into out.
func (d *Daemon) Get(path string, out any) {
	d.t.Helper()
	status, text := d.Do(http.MethodGet, path, "")
	if status != http.StatusOK {
		d.t.Fatalf("GET %s: %d: %s", path, status, text)
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		d.t.Fatalf("GET %s: %v: %.300s", path, err, text)
	}
}

// Connection is what the tests need of one.
type Connection struct {
	ID, Route, Direction, Output, Peer, StreamID, User, URL string

	SRT *struct{ PktSentUniqueTotal, PktRecvUniqueTotal, PktSentTotal int64 }
}

// Connections are all there are.
func (d *Daemon) Connections() []Connection {
	d.t.Helper()
	var all struct{ Connections []Connection }
	d.Get("/v1/connections", &all)
	return all.Connections
}

// Find waits for the connection whose user, or else whose stream id, this is.
func (d *Daemon) Find(who string) (found Connection) {
	d.t.Helper()
	Until(d.t, "the connection of "+who, func() bool {
		for _, c := range d.Connections() {
			if c.User == who || c.StreamID == who {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

// Until waits for a condition.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	proctest.Eventually(t, "waited in vain for "+what, ok)
}
