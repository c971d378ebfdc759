package srtcore_test

import (
	"net"
	"sync/atomic"
	"testing"
)

// relay passes datagrams between one caller and a target until it is cut.
type relay struct {
	front, back *net.UDPConn
	caller      atomic.Pointer[net.UDPAddr]
	dst         atomic.Pointer[net.UDPAddr]
	dead        atomic.Bool
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{front: loopback(t), back: loopback(t)}
	go r.pass(r.front, r.back, &r.caller, &r.dst)
	go r.pass(r.back, r.front, nil, &r.caller)
	return r
}

func loopback(t *testing.T) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (r *relay) addr() string      { return r.front.LocalAddr().String() }
func (r *relay) target(a net.Addr) { r.dst.Store(a.(*net.UDPAddr)) }
func (r *relay) cut()              { r.dead.Store(true) }

// pass copies from one socket to the other, and notes where the datagrams came
// from, until the socket is closed.
func (r *relay) pass(from, to *net.UDPConn, seen, dst *atomic.Pointer[net.UDPAddr]) {
	b := make([]byte, 2048)
	for {
		n, src, err := from.ReadFromUDP(b)
		if err != nil {
			return
		}
		if seen != nil {
			seen.Store(src)
		}
		if d := dst.Load(); d != nil && !r.dead.Load() {
			_, _ = to.WriteToUDP(b[:n], d)
		}
	}
}
