package udp

import (
	"net/netip"
	"slices"
	"sync"
)

// inherited are sockets that another process has bound: systemd, or the one
// before this. Each waits for the Listen that asks for its address, or for
// DropInherited.
var inherited struct {
	mu  sync.Mutex
	fds map[netip.AddrPort][]int
}

// Inherit keeps a bound UDP socket for a later Listen on exactly its address,
// which it returns. The descriptor is duplicated.
func Inherit(fd uintptr) (netip.AddrPort, error) {
	own, at, err := inheritFD(int(fd))
	if err != nil {
		return at, err
	}
	inherited.mu.Lock()
	defer inherited.mu.Unlock()
	if inherited.fds == nil {
		inherited.fds = map[netip.AddrPort][]int{}
	}
	inherited.fds[at] = append(inherited.fds[at], own)
	return at, nil
}

// Inherited reports whether a socket waits for a Listen on this address.
func Inherited(at netip.AddrPort) bool {
	inherited.mu.Lock()
	defer inherited.mu.Unlock()
	return len(inherited.fds[at]) > 0
}

// DropInherited closes the sockets that no Listen has asked for: nobody would
// read them, and the system would go on giving them datagrams.
func DropInherited() (dropped []netip.AddrPort) {
	inherited.mu.Lock()
	defer inherited.mu.Unlock()
	for at, fds := range inherited.fds {
		for _, fd := range fds {
			closeFD(fd)
			dropped = append(dropped, at)
		}
	}
	inherited.fds = nil
	slices.SortFunc(dropped, netip.AddrPort.Compare)
	return dropped
}

// takeInherited returns -1 if there is none.
func takeInherited(at netip.AddrPort) int {
	inherited.mu.Lock()
	defer inherited.mu.Unlock()
	fds := inherited.fds[at]
	if len(fds) == 0 {
		return -1
	}
	inherited.fds[at] = fds[1:]
	return fds[0]
}
