package access

import (
	"net/netip"
	"time"
)

// A publisher that is there keeps the place while media comes from him. Of a
// program that died, and is started again, the dead connection would hold it for
// the peer idle time. So who has fallen silent gives way: soon to a caller from
// his own IP address, later to one from elsewhere.
const (
	silence         = 400 * time.Millisecond
	silenceStranger = time.Second
	rivalLook       = 50 * time.Millisecond
)

type verdict int

const (
	rivalGone    verdict = iota // there is none, or he has ended, or is silent
	rivalLives                  // media comes from him
	rivalUnclear                // look again
)

// rival watches the publisher that a new one would replace.
type rival struct {
	of      *visit
	packets int64
	since   time.Time
}

// look says how things stand with v, since the first look at him, for a caller
// from the given address. Port.mu is held.
func (r *rival) look(v *visit, from netip.Addr, now time.Time) verdict {
	if v == nil || v.over() {
		return rivalGone
	}
	packets := v.conn.Stats().PktRecvTotal
	if r.of != v {
		r.of, r.packets, r.since = v, packets, now
		return rivalUnclear
	}
	enough := silenceStranger
	if unmapped(v.conn.RemoteAddr()).Addr() == from {
		enough = silence
	}
	switch {
	case packets != r.packets:
		return rivalLives
	case now.Sub(r.since) < enough:
		return rivalUnclear
	}
	return rivalGone
}
