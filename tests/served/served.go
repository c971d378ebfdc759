// Package served is a daemon as users run it, the built program with a
// configuration file, and the publishers and players that call it over SRT, for
// tests of what it shows and of what it can be told to do.
//
// Lives here: Daemon, Publisher, Player and the stream between the two. May
// import: srtcore, tests/port. Never: sidecar; the daemon is another process.
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
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
)

// Patience bounds every wait; what is waited for normally takes a fraction.
const Patience = 30 * time.Second

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
	cmd  *exec.Cmd
	said logbook
	left chan struct{}
	head string // of the configuration
}

// Start runs `weirline serve --config` with this configuration, but for listen
// and control, and waits until it answers. It is gone at the end of the test; if
// that failed, what the daemon said is shown.
func Start(t *testing.T, token, yaml string) *Daemon {
	t.Helper()
	d := &Daemon{t: t, Token: token, HTTP: port.Addr(t), File: filepath.Join(t.TempDir(), "weirline.yaml"), left: make(chan struct{})}
	addr := port.Addr(t)
	d.URL = "http://" + addr
	d.head = fmt.Sprintf("listen: %s\ncontrol: { listen: '%s' }\n", d.HTTP, addr)
	if token != "" {
		d.head = fmt.Sprintf("listen: %s\ncontrol: { listen: '%s', token: '%s' }\n", d.HTTP, addr, token)
	}
	d.Configure(yaml)
	d.cmd = exec.Command(Program, "serve", "--config", d.File)
	d.cmd.Stdout, d.cmd.Stderr = &d.said, &d.said
	d.cmd.WaitDelay = time.Second
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait()
		close(d.left)
	}()
	t.Cleanup(d.end)
	Until(t, "the daemon to answer", func() bool {
		if d.Gone() {
			t.Fatalf("the daemon ended: %v\n%s", d.cmd.ProcessState, d.said.String())
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
func (d *Daemon) Gone() bool {
	select {
	case <-d.left:
		return true
	default:
		return false
	}
}

// Said is the daemon's log so far, its last part.
func (d *Daemon) Said() string { return d.said.String() }

func (d *Daemon) end() {
	if d.Gone() {
		d.t.Errorf("the daemon ended before the test: %v", d.cmd.ProcessState)
	}
	_ = d.cmd.Process.Kill() // a goodbye would wait for outputs that nobody answers
	<-d.left
	if d.t.Failed() {
		d.t.Logf("the daemon said:\n%s", d.said.String())
	}
}

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
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(Patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// logbook keeps the end of what a program says.
type logbook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const keep = 32 << 10

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() > keep {
		l.b.Next(l.b.Len() - keep/2)
	}
	return l.b.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
