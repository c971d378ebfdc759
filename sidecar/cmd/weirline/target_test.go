package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/bench"
	"github.com/weirline/weirline/tests/port"
)

// TestMain lets bench run start this program as its sender.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "bench" || os.Args[1] == "serve") {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A run against a server of the user's: a relay that takes only callers with the
// right passphrase, and writes what comes to a file.
func TestBenchRunAgainstALiveServer(t *testing.T) {
	addr, file := port.Addr(t), filepath.Join(t.TempDir(), "out")
	done := make(chan int, 1)
	go func() {
		done <- run([]string{"relay", "srt://" + addr + "?mode=listener&latency=120&passphrase=benchmark-secret-1&reconnect=0", "file://" + file})
	}()
	var out, errOut bytes.Buffer
	o := bench.RunOptions{Profile: "P1", Secs: 1, Target: "srt://" + addr + "?passphrase=benchmark-secret-1&streamid=live/1"}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	if code := bench.Run(ctx, o, &out, &errOut); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out.String(), errOut.String())
	}
	select {
	case code := <-done:
		if code != 0 {
			t.Errorf("the relay's exit code: %d", code)
		}
	case <-ctx.Done():
		t.Fatal("the relay does not see the end of its source")
	}
	wantRun(t, out.String(), file)
}

// wantRun holds the line of JSON against what the server wrote.
func wantRun(t *testing.T, out, file string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var line struct {
		Complete bool
		Send     struct {
			Bytes int64 `json:"sent_bytes"`
			Drops int   `json:"pktSndDrop"`
		}
		Recv map[string]any
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	st, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if !line.Complete || line.Recv != nil || line.Send.Bytes < 6e6 || st.Size() != line.Send.Bytes {
		t.Errorf("%+v, the server wrote %d bytes", line, st.Size())
	}
}

// A wrong passphrase is said, and is no result.
func TestBenchRunSaysThatTheServerRefuses(t *testing.T) {
	addr := port.Addr(t)
	done := make(chan int, 1)
	go func() {
		done <- run([]string{"relay", "--timeout", "3s", "srt://" + addr + "?mode=listener&passphrase=benchmark-secret-1", "file:///dev/null"})
	}()
	var out, errOut bytes.Buffer
	o := bench.RunOptions{Profile: "P1", Secs: 1, Target: "srt://" + addr + "?passphrase=another-secret-2"}
	if code := bench.Run(context.Background(), o, &out, &errOut); code != 2 || !strings.Contains(out.String(), "passphrase") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
	if code := <-done; code != exitGaveUp {
		t.Errorf("the relay's exit code: %d", code)
	}
}
