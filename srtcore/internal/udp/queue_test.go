package udp

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

var somebody = netip.MustParseAddrPort("127.0.0.1:9")

func TestQueueKeepsOrder(t *testing.T) {
	var q queue
	c := dgram.NewCache(dgram.NewPool(1000))
	dst := make([]dgram.In, 50)
	put, taken := 0, 0
	for round := range 40 { // more in than out, so that the ring wraps and grows
		for range 60 {
			wake := q.put(payload(put, 100+put%7), somebody, somebody.Addr())
			if empty := put == taken; wake != empty {
				t.Fatalf("datagram %d: wake %v, empty %v", put, wake, empty)
			}
			put++
		}
		n, more, err := q.take(c, dst[:30+round%20])
		if err != nil || more != (taken+n < put) {
			t.Fatalf("round %d: %d, %v, %v", round, n, more, err)
		}
		for _, d := range dst[:n] {
			if !bytes.Equal(d.Buf.Bytes(), payload(taken, 100+taken%7)) || d.From != somebody || d.To != somebody.Addr() {
				t.Fatalf("datagram %d differs", taken)
			}
			c.Put(d.Buf)
			taken++
		}
	}
	if q.dropped != 0 || q.reads != uint64(put) {
		t.Errorf("dropped %d, reads %d of %d", q.dropped, q.reads, put)
	}
}

func TestQueueIsBounded(t *testing.T) {
	var q queue
	for i := range maxQueue + 5 {
		q.put(payload(i, 4), somebody, netip.Addr{})
	}
	q.put(make([]byte, dgram.Size+1), somebody, netip.Addr{})
	if q.len != maxQueue || q.dropped != 5 || q.oversize != 1 {
		t.Errorf("%d held, %d dropped, %d too long", q.len, q.dropped, q.oversize)
	}
}

func TestQueueEndsWithItsError(t *testing.T) {
	var q queue
	broken := errors.New("broken")
	c := dgram.NewCache(dgram.NewPool(10))
	dst := make([]dgram.In, 4)
	q.put(payload(1, 4), somebody, netip.Addr{})
	q.fail(broken)
	if n, more, err := q.take(c, dst); n != 1 || more || err != nil {
		t.Errorf("%d, %v, %v", n, more, err)
	}
	if n, _, err := q.take(c, dst); n != 0 || err != broken {
		t.Errorf("%d, %v", n, err)
	}
}
