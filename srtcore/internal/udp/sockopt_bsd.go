//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package udp

import "errors"

func bindToDevice(int, string) error { return errors.ErrUnsupported }
