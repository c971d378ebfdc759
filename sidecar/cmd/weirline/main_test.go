package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/srtcore"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{&srtcore.OptionError{Option: "x"}, exitUsage},
		{fmt.Errorf("source: %w", &endpoint.URLError{}), exitUsage},
		{&srtcore.RejectError{Reason: srtcore.RejBadSecret}, exitRefused},
		{srtcore.ErrConnTimeout, exitTimeout},
		{context.DeadlineExceeded, exitTimeout},
		{fmt.Errorf("%w; last: %w", route.ErrGaveUp, srtcore.ErrConnTimeout), exitGaveUp},
		{syscall.EADDRINUSE, exitRuntime},
		{errors.New("anything"), exitRuntime},
	} {
		if got := codeOf(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"nonsense"}, {"relay"}, {"relay", "-"}, {"relay", "--nope", "-", "-"},
		{"relay", "in.ts", "-"}, {"relay", "-", "srt://h:1?latancy=5"}, {"relay", "-", "srt://h:1?passphrase=short"},
		{"relay", "--timeout", "x", "-", "-"}, {"relay", "--payload-size", "1457", "-", "-"}, {"relay", "--stats-format", "xml", "-", "-"}, {"relay", "--log-level", "x", "-", "-"},
		{"relay", "--stats-interval", "-1s", "-", "file:///dev/null"},
		{"serve", "--listen", "9710"}, {"serve", "--listen", "127.0.0.1:99999"}, {"serve", "extra"},
		{"bench"}, {"bench", "nonsense"}, {"bench", "send", "--streams", "0"}, {"bench", "recv", "--file"}, {"bench", "recv", "--passphrase", "short"},
	} {
		if got := run(args); got != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, got, exitUsage)
		}
	}
}

func TestRelayFileToFile(t *testing.T) {
	dir := t.TempDir()
	in, out, stats := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "stats")
	want := make([]byte, 100000)
	for i := range want {
		want[i] = byte(i * 7)
	}
	if err := os.WriteFile(in, want, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"relay", "--stats-interval", "1h", "--stats-out", stats, "file://" + in, "file://" + out}); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != string(want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := os.ReadFile(stats); err != nil || len(got) == 0 {
		t.Errorf("statistics: %q, %v", got, err)
	}
	if code := run([]string{"relay", "file://" + in + "none", "file://" + out}); code != exitRuntime {
		t.Errorf("missing file: exit code %d", code)
	}
}

func TestHelpTopicAndVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"help", "exit-codes"}, {"help", "relay"}, {}} {
		if code := run(args); code != exitOK {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}

// The examples of the help stand in the manual pages line by line.
func TestManualKeepsLines(t *testing.T) {
	dir := t.TempDir()
	if code := run([]string{"man", dir}); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	page, err := os.ReadFile(filepath.Join(dir, "weirline-exec.1"))
	if err != nil || !strings.Contains(string(page), ".EX\n  weirline exec -- ffmpeg -re") || !strings.Contains(string(page), `"WEIRLINE-EXEC" "1"`) {
		t.Errorf("%v: %.700s", err, page)
	}
}

func TestErrorsDoNotQuoteSecrets(t *testing.T) {
	const url = "srt://h:1?passphrase=verysecret1&x=1"
	for _, args := range [][]string{
		{url}, {"serve", url}, {"serve", "--listen", url}, {"bench", "recv", url}, {"relay", "-", url},
		{"relay", "-", url[2:]}, {"relay", "-", url[3:]}, {"relay", "-", "x?passphrase=verysecret1"},
		{"relay", "--stats-interval", url, "-", "-"}, {"relay", "--stats-format", url, "-", "-"},
	} {
		root, text := rootCommand(), new(strings.Builder)
		root.SetArgs(args)
		if report(root.ExecuteContext(t.Context()), text) == exitOK || text.Len() == 0 || strings.Contains(text.String(), "verysecret1") {
			t.Errorf("%v: %q", args, text)
		}
	}
}
