package udp

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

const patience = 10 * time.Second

// waitFD waits until the descriptor is readable; set where there are any.
var waitFD func(fd int, atMost time.Duration)

// peer is a Socket with what a loop would put around it.
type peer struct {
	*Socket
	t     testing.TB
	cache *dgram.Cache
	wake  chan struct{}
	done  chan struct{}
}

func listen(t testing.TB, addr string, cfg Config) *peer {
	t.Helper()
	s, err := Listen(netip.MustParseAddrPort(addr), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{Socket: s, t: t, cache: dgram.NewCache(dgram.NewPool(4096)),
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		s.Pump(func() {
			select {
			case p.wake <- struct{}{}:
			default:
			}
		})
	}()
	t.Cleanup(p.shut)
	return p
}

func (p *peer) shut() {
	p.Close()
	<-p.done
}

// wait returns when there may be something to read, or after the deadline.
func (p *peer) wait(until time.Time) {
	if fd := p.FD(); fd >= 0 {
		waitFD(fd, time.Until(until))
		return
	}
	select {
	case <-p.wake:
	case <-time.After(time.Until(until)):
	}
}

// collect reads n datagrams, at most lot a call.
func (p *peer) collect(n, lot int) []dgram.In {
	p.t.Helper()
	var all []dgram.In
	dst := make([]dgram.In, lot)
	until := time.Now().Add(patience)
	for len(all) < n {
		k, more, err := p.ReadBatch(p.cache, dst)
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, dst[:k]...)
		if k > 0 || more {
			continue
		}
		if time.Now().After(until) {
			p.t.Fatalf("%d of %d datagrams after %v", len(all), n, patience)
		}
		p.wait(until)
	}
	return all
}

// sendAll writes out until the system took everything.
func (p *peer) sendAll(out []dgram.Out) {
	p.t.Helper()
	for len(out) > 0 {
		n, err := p.WriteBatch(out)
		if err != nil && err != ErrAgain {
			p.t.Fatal(err)
		}
		out = out[n:]
	}
}

// payload returns n bytes that only the datagram number i has.
func payload(i, n int) []byte {
	b := make([]byte, n)
	x := uint32(i)*2654435761 + 1
	for k := range b {
		x = x*1664525 + 1013904223
		b[k] = byte(x >> 24)
	}
	if n >= 4 {
		binary.BigEndian.PutUint32(b, uint32(i))
	}
	return b
}

// reachable returns the address by which a local socket reaches p.
func (p *peer) reachable() netip.AddrPort {
	a := p.LocalAddr()
	switch {
	case !a.Addr().IsUnspecified():
	case a.Addr().Is4():
		a = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), a.Port())
	default:
		a = netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	}
	return a
}
