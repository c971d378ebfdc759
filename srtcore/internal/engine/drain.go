//go:build !weirlinedebug

package engine

import "github.com/weirline/weirline/srtcore/internal/mono"

// drainCheck does nothing in production; see drain_debug.go.
type drainCheck struct{}

func (*drainCheck) mutate(mono.Time) {}
func (*drainCheck) drained()         {}
