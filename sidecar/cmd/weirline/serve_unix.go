//go:build !windows

package main

import (
	"os"
	"syscall"
)

// signalsOfServe reload and upgrade.
var signalsOfServe = []os.Signal{syscall.SIGHUP, syscall.SIGUSR2}

func askToUpgrade(pid int) error { return syscall.Kill(pid, syscall.SIGUSR2) }
