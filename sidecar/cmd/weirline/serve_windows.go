package main

import (
	"errors"
	"os"
	"syscall"
)

var signalsOfServe = []os.Signal{syscall.SIGHUP}

func askToUpgrade(int) error { return errors.ErrUnsupported }
