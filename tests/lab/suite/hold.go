package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

// holdRound marks the raw lines of a profile hold: no round of the measurement.
const holdRound = -1

// profileHold runs weirline once more, each process with a CPU profile of its
// own. What the run measures is disturbed by that and is not a result.
func (l *lab) profileHold(ctx context.Context, x pairs) {
	dir := filepath.Join(l.out, "profiles")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		l.trouble("%s: no profile hold: %v", x.p.Name, err)
		return
	}
	if !rest(ctx) {
		return
	}
	x.cpuProfile = filepath.Join(dir, x.p.Name)
	r := l.pair(ctx, x, profile.Weirline, holdRound)
	if r.Failed != "" {
		l.trouble("%s: the profile hold failed: %s", x.p.Name, r.Failed)
		return
	}
	f := report.Finding{Scenario: "profile-" + x.p.Name, Text: "CPU profiles of a hold of its own, beside this report."}
	for _, role := range []string{"send", "recv"} {
		file := x.cpuProfile + "-" + role + ".pprof"
		f.Lines = append(f.Lines, fmt.Sprintf("profiles/%s: %s", filepath.Base(file), l.top(ctx, file)))
	}
	l.found(f)
}

// top names the functions that took most, if there is a go command to ask.
func (l *lab) top(ctx context.Context, file string) string {
	text, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-nodecount=8", l.path(sides), file).Output()
	if err != nil {
		return "not summarised: " + err.Error()
	}
	if err := os.WriteFile(strings.TrimSuffix(file, ".pprof")+".txt", text, 0o644); err != nil {
		return err.Error()
	}
	return topLines(text)
}

// topLines takes share and name of each function out of pprof's table.
func topLines(text []byte) string {
	var out []string
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) < 6 || !strings.HasSuffix(f[1], "%") || !strings.HasSuffix(f[4], "%") {
			continue
		}
		name := f[5][strings.LastIndex(f[5], "/")+1:]
		out = append(out, f[1]+" "+name)
	}
	return strings.Join(out, ", ")
}
