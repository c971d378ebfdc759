package access

import (
	"net/netip"
	"testing"
	"time"
)

// A bucket gives its burst, then what time has filled in, and never more.
func TestBucket(t *testing.T) {
	var b bucket
	now := time.Unix(1000, 0)
	take := func(n int) (got int) {
		for range n {
			if b.left(now, 10, 2) >= 1 {
				b.taken++
				got++
			}
		}
		return got
	}
	if n := take(20); n != 10 {
		t.Errorf("%d at once, want 10", n)
	}
	now = now.Add(1500 * time.Millisecond)
	if n := take(20); n != 3 {
		t.Errorf("%d after 1.5 s, want 3", n)
	}
	now = now.Add(time.Hour)
	if n := take(20); n != 10 {
		t.Errorf("%d after an hour, want 10", n)
	}
}

// What is remembered of addresses is bounded, whoever calls: an IPv6 network
// counts as one, strangers beyond the bound share, and who was quiet is forgotten.
func TestPatronsAreBounded(t *testing.T) {
	var l patrons
	now := time.Unix(1000, 0)
	a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff:1%eth0")
	if l.of(a, now) != l.of(b, now) || l.of(a, now) == l.of(netip.MustParseAddr("2001:db8:0:1::1"), now) {
		t.Error("one IPv6 network is not one patron")
	}
	if l.of(netip.Addr{}, now) == nil {
		t.Error("nobody for an address that is not valid")
	}
	busy := l.of(a, now)
	busy.wrong.at, busy.wrong.taken = now, 10*wrongBurst
	v4 := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }
	for i := range 2 * mostPatrons {
		p := l.of(v4(i), now)
		p.asks.at, p.asks.taken = now, 1
	}
	if n := len(l.known); n > mostPatrons {
		t.Errorf("%d addresses are remembered", n)
	}
	if l.of(v4(1<<20), now) != l.of(v4(1<<20+1), now) {
		t.Error("strangers beyond the bound do not share")
	}
	now = now.Add(10 * time.Second)
	l.of(v4(1<<21), now)
	if n := len(l.known); n > 2 || l.of(a, now) != busy {
		t.Errorf("%d addresses are remembered after a while", n)
	}
}
