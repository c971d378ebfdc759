//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package udp

import (
	"errors"
	"syscall"
)

// setOptions refuses what this system has no name for.
func setOptions(_ int, _ bool, cfg Config) error {
	if cfg.ReusePort || cfg.Device != "" || cfg.TTL > 0 || cfg.TOS > 0 {
		return option("ReusePort, Device, TTL or TOS", errors.ErrUnsupported)
	}
	return nil
}

func bufferSizes(int) (recv, send int) { return 0, 0 }

func commonErrno(e syscall.Errno) error { return e }

func tooLong(error) bool { return false }

func ofPeer(error) bool { return false }
