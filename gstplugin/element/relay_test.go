package element_test

import (
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"
)

// relay passes datagrams between one caller and a port, drops what it is told to
// and can be cut.
type relay struct {
	front, back *net.UDPConn
	caller, dst atomic.Pointer[net.UDPAddr]
	dead        atomic.Bool
	seen        atomic.Int64 // datagrams from the caller
	// drop decides about data packets of either direction; set before traffic.
	drop func(index uint32) bool
	base atomic.Int64 // sequence number of the first data packet
}

func newRelay(t *testing.T, port int, drop func(index uint32) bool) *relay {
	t.Helper()
	r := &relay{front: loopback(t), back: loopback(t), drop: drop}
	r.base.Store(-1)
	r.dst.Store(&net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	go r.pass(r.front, r.back, &r.caller, &r.dst)
	go r.pass(r.back, r.front, nil, &r.caller)
	return r
}

func (r *relay) port() int { return r.front.LocalAddr().(*net.UDPAddr).Port }
func (r *relay) cut()      { r.dead.Store(true) }

func (r *relay) pass(from, to *net.UDPConn, seen, dst *atomic.Pointer[net.UDPAddr]) {
	b := make([]byte, 2048)
	for {
		n, src, err := from.ReadFromUDP(b)
		if err != nil {
			return
		}
		if seen != nil {
			seen.Store(src)
			r.seen.Add(1)
		}
		if d := dst.Load(); d != nil && !r.dead.Load() && !r.dropped(b[:n]) {
			_, _ = to.WriteToUDP(b[:n], d)
		}
	}
}

// dropped decides about one datagram. A data packet begins with a zero bit and
// its sequence number.
func (r *relay) dropped(b []byte) bool {
	if r.drop == nil || len(b) < 16 || b[0]&0x80 != 0 {
		return false
	}
	n := binary.BigEndian.Uint32(b)
	r.base.CompareAndSwap(-1, int64(n))
	return r.drop((n - uint32(r.base.Load())) & (1<<31 - 1))
}
