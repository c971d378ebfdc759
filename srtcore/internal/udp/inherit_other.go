//go:build !linux

package udp

import (
	"errors"
	"net/netip"
)

func inheritFD(int) (own int, at netip.AddrPort, err error) { return -1, at, errors.ErrUnsupported }

func closeFD(int) {}

// Duplicate is for Linux only.
func (s *Socket) Duplicate() (int, error) { return -1, errors.ErrUnsupported }
