//go:build !unix

package execwrap

import (
	"os"
	"os/exec"
)

func wanted() []os.Signal { return []os.Signal{os.Interrupt} }

func stops(s os.Signal) bool { return s == os.Interrupt }

// ownGroup: the console interrupts all its programs itself.
func ownGroup(*exec.Cmd) bool { return false }

func fromTerminal(os.Signal) bool { return true }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
