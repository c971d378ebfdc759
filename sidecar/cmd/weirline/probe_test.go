package main

import (
	"strings"
	"testing"
)

func TestParseBits(t *testing.T) {
	for text, want := range map[string]int64{"5M": 5_000_000, "800k": 800_000, "1.5M": 1_500_000, "1G": 1_000_000_000, "250000": 250_000} {
		if got, err := parseBits(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "M", "-5M", "5m", "NaN", "Inf", "1e300G", "5 M"} {
		if got, err := parseBits(text); err == nil || !strings.Contains(err.Error(), "allowed bits per second") {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestProbeAndTraceRefuseBadUse(t *testing.T) {
	for _, args := range [][]string{
		{"probe"}, {"probe", "udp://127.0.0.1:1"}, {"probe", "--secs", "900", "srt://127.0.0.1:1"}, {"probe", "--rate", "fast", "srt://127.0.0.1:1"},
		{"probe", "--listen", "--send", "srt://:1"}, {"probe", "--listen", "srt://127.0.0.1:1?mode=caller"}, {"trace", "c1", "--format", "xml"},
		{"trace", "explain", "probe_test.go"}, {"trace", "explain"}, {"trace", "explain", "a", "b", "c"},
	} {
		if code := run(args); code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, code, exitUsage)
		}
	}
	if code := run([]string{"trace", "explain", "no/such/file"}); code != exitRuntime {
		t.Errorf("a file that is not there: exit code %d, want %d", code, exitRuntime)
	}
}
