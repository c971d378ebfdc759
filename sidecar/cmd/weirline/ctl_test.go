package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/tests/api/fake"
)

// weirline runs the command line and returns its output.
func weirlineOut(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := rootCommand()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestCtlAndTop(t *testing.T) {
	d := fake.New(2)
	const token = "0123456789abcdef"
	s, err := control.NewServer(control.Options{Daemon: d, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	on := func(args ...string) []string { return append(args, "--api", srv.URL, "--token-file", file) }

	out, err := weirlineOut(t, on("ctl", "routes")...)
	if err != nil || !json.Valid([]byte(out)) || !strings.Contains(out, "studio-a") {
		t.Errorf("routes: %v %s", err, out)
	}
	if _, err := weirlineOut(t, on("ctl", "kick", "p1")...); err != nil || !d.WasKicked("p1") {
		t.Errorf("kick: %v", err)
	}
	spec := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(spec, []byte(`{"name":"a.b","sources":[{"url":"srt://:9300?mode=listener"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := weirlineOut(t, on("ctl", "add-route", spec)...); err != nil || !strings.Contains(out, "9300") {
		t.Errorf("add-route: %v %s", err, out)
	}
	if _, err := weirlineOut(t, on("ctl", "remove-route", "a.b")...); err != nil || len(d.Routes()) != 3 {
		t.Errorf("remove-route: %v, %d routes", err, len(d.Routes()))
	}
	if out, err := weirlineOut(t, on("top")...); err != nil || !strings.Contains(out, "u=viewer2") {
		t.Errorf("top: %v %s", err, out)
	}
	if _, err := weirlineOut(t, on("ctl", "kick", "p1")...); err == nil || codeOf(err) != exitRuntime || !strings.Contains(err.Error(), `"p1"`) {
		t.Errorf("kick twice: %v", err)
	}
	for _, bad := range [][]string{
		{"top", "--api", "ftp://x"}, {"ctl", "status", "--token-file", "/nonexistent"}, on("ctl", "add-route", "ctl_test.go"),
	} {
		var code exitError
		if _, err := weirlineOut(t, bad...); err == nil || !asExit(err, &code) || code.code != exitUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func asExit(err error, to *exitError) bool {
	e, ok := err.(exitError)
	*to = e
	return ok
}
