package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
)

// writeMachine opens the raw file with what a reader must know to compare it.
func writeMachine(w io.Writer, p profile.Profile, o options) error {
	m := proc.ThisMachine()
	return json.NewEncoder(w).Encode(map[string]any{
		"role": "machine", "time": time.Now().UTC().Format(time.RFC3339),
		"profile": p.Name, "text": p.Text, "rounds": o.rounds, "secs": o.secs,
		"cpus": m.Cores, "cpu": m.CPU, "kernel": m.Kernel, "go": m.Go, "arch": m.Arch, "commit": m.Commit,
	})
}
