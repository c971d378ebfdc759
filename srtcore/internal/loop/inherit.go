package loop

import (
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/udp"
)

// Inherit and DropInherited are udp's, for the public package.
func Inherit(fd uintptr) (netip.AddrPort, error) { return udp.Inherit(fd) }

// DropInherited closes the sockets that no Listen asked for.
func DropInherited() []netip.AddrPort { return udp.DropInherited() }
