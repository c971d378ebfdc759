package access

import (
	"net/netip"
	"time"
)

// What one address may cause in a time. Who calls from a big network behind one
// address has to fit, so a burst is large; IPv6 counts by /64, since that is what
// one caller has.
const (
	askBurst, askRate     = 256, 50 // questions to the hook, and a second
	wrongBurst, wrongRate = 50, 10  // wrong passphrases, each a millisecond of work
	hookOfOne             = hookParallel / 4
	mostPatrons           = 4096
)

// patron is what is remembered of an address for a while. Port.mu guards it, but
// for turn.
type patron struct {
	asks, wrong bucket
	here        int           // callers on their way, who hold it
	turn        chan struct{} // its share of what the hook gets at a time
}

// bucket holds what may be had at once and fills up with time.
type bucket struct {
	taken float64
	at    time.Time
}

// left is how much can be had now.
func (b *bucket) left(now time.Time, burst, rate float64) float64 {
	b.taken = max(0, b.taken-rate*now.Sub(b.at).Seconds())
	b.at = now
	return burst - b.taken
}

// full: nothing needs to be remembered.
func (p *patron) full(now time.Time) bool {
	return p.here == 0 && p.asks.left(now, askBurst, askRate) == askBurst && p.wrong.left(now, wrongBurst, wrongRate) == wrongBurst
}

// patrons are the addresses that called lately: mostPatrons of them, and the rest
// together as one.
type patrons struct {
	known map[netip.Prefix]*patron
	swept time.Time
	rest  *patron
}

func newPatron() *patron { return &patron{turn: make(chan struct{}, hookOfOne)} }

// of returns the patron of an address.
func (l *patrons) of(a netip.Addr, now time.Time) *patron {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	key, _ := a.WithZone("").Prefix(bits) // an address that is not valid is one, too
	if p := l.known[key]; p != nil {
		return p
	}
	if len(l.known) >= mostPatrons {
		l.sweep(now)
	}
	if len(l.known) >= mostPatrons {
		if l.rest == nil {
			l.rest = newPatron()
		}
		return l.rest
	}
	if l.known == nil {
		l.known = map[netip.Prefix]*patron{}
	}
	p := newPatron()
	l.known[key] = p
	return p
}

// sweep forgets those of whom nothing needs to be remembered, once a second.
func (l *patrons) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Second {
		return
	}
	l.swept = now
	for key, p := range l.known {
		if p.full(now) {
			delete(l.known, key)
		}
	}
}
