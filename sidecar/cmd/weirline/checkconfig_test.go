package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckConfig(t *testing.T) {
	check := func(text string) (code int, out string) {
		path := filepath.Join(t.TempDir(), "w.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		root := rootCommand()
		root.SetArgs([]string{"check-config", path})
		root.SetOut(&b)
		root.SetErr(&b)
		code = report(root.ExecuteContext(t.Context()), &b)
		return code, strings.ReplaceAll(b.String(), path, "FILE")
	}
	if code, out := check("listeners: [{name: a, address: ':9000'}]\nroutes: [{name: a, source: 'udp://:5000'}, {name: b, source: 'udp://:5001'}]\n"); code != exitOK || out != "ok: 2 routes, 1 listeners\n" {
		t.Errorf("%d: %s", code, out)
	}
	if code, out := check("routes: [{name: a, source: 'srt://h:1?latency=5'}]\n"); code != exitOK || !strings.Contains(out, "warning: routes[0].sources[0].url: ") || !strings.HasSuffix(out, "ok: 1 routes, 0 listeners\n") {
		t.Errorf("%d: %s", code, out)
	}
	code, out := check("listen: x\nroutes: [{name: a, source: 'srt://h:1?passphrase=hunter2'}]\n")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); code != exitUsage || len(lines) != 2 || !strings.HasPrefix(lines[0], "FILE:1: listen: ") ||
		!strings.HasPrefix(lines[1], "FILE:2: routes[0].sources[0].url: ") || strings.Contains(out, "hunter2") {
		t.Errorf("%d: %s", code, out)
	}
	for _, args := range [][]string{{"check-config"}, {"check-config", "a", "b"}, {"check-config", "/nonexistent"}} {
		if code := run(args); code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
