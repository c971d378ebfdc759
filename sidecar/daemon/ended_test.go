package daemon

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/route"
)

// clip is a file of 30 messages.
func clip(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clip.ts")
	if err := os.WriteFile(path, text('f', 0, 30), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file is played once, and the route says that it has ended; a reload that leaves
// its entry alone does not play it again, one that changes it does.
func TestFileIsPlayedOnce(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.ts")
	entry := fmt.Sprintf("  - { name: f, source: 'file://%s', outputs: [ 'file://%s' ] }\n", clip(t), out)
	r := newRig(t, "routes:\n"+entry)
	r.eventually("the end to be told", func() bool { return len(r.kinds("ended")) == 1 })
	r.wantFile(out, text('f', 0, 30))
	s := r.route("f")
	if s.Source.State != route.Done || s.Outputs[0].State != route.Done || s.Source.Error != "" || r.Ready() != nil {
		t.Errorf("%+v, %v", s, r.Ready())
	}
	if told := r.kinds("failed"); len(told) != 0 {
		t.Errorf("told as failed: %q", told)
	}
	r.write("routes:\n" + entry + studio("a"))
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	if s := r.route("f"); s.Source.State != route.Done {
		t.Errorf("after a reload: %+v", s)
	}
	r.write("routes:\n" + strings.Replace(entry, "name: f,", "name: f, max-age: 2s,", 1))
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	r.eventually("the second end", func() bool { return len(r.kinds("ended")) == 2 })
	r.wantFile(out, text('f', 0, 30)) // anew, not behind what was there
}

func TestFileThatLoopsIsPlayedAgainAndAgain(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "out")
	r := newRig(t, fmt.Sprintf("routes:\n  - { name: f, source: 'file://%s?loop=1', outputs: [ 'unix:%s?listen=1' ] }\n", clip(t), socket))
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(patience))
	for i := range 5 {
		got := make([]byte, 30*1316)
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, text('f', 0, 30)) {
			t.Fatalf("time %d: other bytes, or %v", i, err)
		}
	}
	if s := r.route("f"); s.Source.State != route.Up || len(r.kinds("ended")) != 0 {
		t.Errorf("%+v", s.Source)
	}
}

// A reply that ends is fetched again, unless reconnect=0 says that it is a file.
func TestHTTPSourceThatEnds(t *testing.T) {
	var asked [2]atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		i := 0
		if q.URL.Path == "/once" {
			i = 1
		}
		asked[i].Add(1)
		w.Write(text('h', 0, 30))
	}))
	defer server.Close()
	dir := t.TempDir()
	r := newRig(t, fmt.Sprintf(`routes:
  - { name: live, source: '%[1]s/live', outputs: [ 'file://%[2]s/live' ] }
  - { name: once, source: '%[1]s/once#reconnect=0', outputs: [ 'file://%[2]s/once' ] }
`, server.URL, dir))
	r.eventually("the end", func() bool { return r.route("once").Source.State == route.Done && len(r.kinds("ended")) == 1 })
	r.eventually("the third fetch", func() bool { return asked[0].Load() >= 3 })
	r.wantFile(filepath.Join(dir, "once"), text('h', 0, 30))
	if n := asked[1].Load(); n != 1 {
		t.Errorf("a file was fetched %d times", n)
	}
	r.eventually("two copies", func() bool {
		st, err := os.Stat(filepath.Join(dir, "live"))
		return err == nil && st.Size() >= 2*30*1316
	})
	got, err := os.ReadFile(filepath.Join(dir, "live"))
	if want := bytes.Repeat(text('h', 0, 30), 2); err != nil || !bytes.HasPrefix(got, want) {
		t.Errorf("%d bytes, or others than twice the reply; %v", len(got), err)
	}
	if told := r.kinds("failed"); len(told) != 0 {
		t.Errorf("told as failed: %q", told)
	}
}

// A stream that a route has called and that ends is called again, and its outputs
// stay connected.
func TestStreamThatEndsIsCalledAgain(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for i := 0; ; i++ {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			c.Write(text('t', 10*i, 10*i+10))
			c.Close()
		}
	}()
	r := newRig(t, fmt.Sprintf("routes:\n  - { name: t, source: 'tcp://%s?listen=0', outputs: [ { play: { listener: main, stream: t } } ] }\n", ln.Addr()))
	player := r.play("t")
	player.SetReadDeadline(time.Now().Add(patience))
	first := r.firstOf(player, 't', 1<<20)
	r.wantStream(player, 't', first+1, first+20)
	if len(r.route("t").Outputs[0].Sessions) != 1 || len(r.kinds("failed")) != 0 {
		t.Errorf("%+v; told %q", r.route("t").Outputs[0], r.kinds("failed"))
	}
}

// Credentials that were refused are not tried again and again, but with the next
// reload; a server that has trouble is tried again by itself.
func TestRefusedCredentialsAreNotTriedBlindly(t *testing.T) {
	var asked, troubled atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/trouble" {
			troubled.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		asked.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	r := newRig(t, fmt.Sprintf("routes:\n  - { name: no, source: '%[1]s/no' }\n  - { name: trouble, source: '%[1]s/trouble' }\n", server.URL))
	r.eventually("the refusal to be told", func() bool {
		told := r.kinds("failed")
		return len(told) == 2 && strings.Contains(told[1], "401") && strings.Contains(told[1], "not tried again before") // the route's and the source's
	})
	r.eventually("some tries of the other", func() bool { return troubled.Load() >= 3 })
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if err := r.Ready(); err == nil || !strings.Contains(err.Error(), "route no") {
		t.Errorf("Ready = %v", err)
	}
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	r.eventually("the next try", func() bool { return asked.Load() == 2 })
}
