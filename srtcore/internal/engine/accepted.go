package engine

import (
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// accepted holds the connections that a listener made, by the address and the
// socket id of their callers, to answer repeated conclusions.
type accepted map[netip.AddrPort]map[wire.SocketID]*Conn

func (a accepted) find(addr netip.AddrPort, id wire.SocketID) *Conn { return a[addr][id] }

func (a accepted) add(c *Conn) {
	if a[c.peer] == nil {
		a[c.peer] = make(map[wire.SocketID]*Conn)
	}
	a[c.peer][c.peerID] = c
}

func (a accepted) remove(c *Conn) {
	same := a[c.peer]
	if same[c.peerID] != c {
		return
	}
	if delete(same, c.peerID); len(same) == 0 {
		delete(a, c.peer)
	}
}

// silentAfter: a caller that was silent for longer (keepalives come every
// second) and whose address begins a new connection has been restarted.
const silentAfter = 2500 * time.Millisecond

// replaceSilent ends what a restarted caller left behind, at its next deadline.
// Callers may share an address; while one of them is heard, all may be alive.
func (a accepted) replaceSilent(now mono.Time, addr netip.AddrPort) {
	for _, c := range a[addr] {
		if now.Sub(c.live.lastHeard) <= silentAfter {
			return
		}
	}
	for _, c := range a[addr] {
		c.live.lastHeard = now.Add(-c.cfg.PeerIdle)
	}
}
