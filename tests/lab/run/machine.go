package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/weirline/weirline/tests/lab/profile"
)

// writeMachine opens the raw file with what a reader must know to compare it.
func writeMachine(w io.Writer, p profile.Profile, o options) error {
	return json.NewEncoder(w).Encode(map[string]any{
		"role": "machine", "time": time.Now().UTC().Format(time.RFC3339),
		"profile": p.Name, "text": p.Text, "rounds": o.rounds, "secs": o.secs,
		"cpus": runtime.NumCPU(), "cpu": cpuName(), "kernel": firstLine("/proc/sys/kernel/osrelease"),
		"go": runtime.Version(), "arch": runtime.GOARCH, "commit": commit(),
	})
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func commit() string {
	out, _ := exec.Command("git", "describe", "--always", "--dirty").Output()
	return strings.TrimSpace(string(out))
}
