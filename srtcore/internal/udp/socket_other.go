//go:build !linux

package udp

import "net/netip"

func open(laddr netip.AddrPort, cfg Config) (backend, error) { return openPortable(laddr, cfg) }
