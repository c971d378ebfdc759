// Package port hands out ports to tests that start other programs.
//
// Lives here: the one place that picks a port. May import: the standard library.
// Never: anything of this module; every test may use it.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The range lies below the one from which the system picks ports for sockets
// that ask for any (32768 and up), so that no such socket of a test running
// beside this one can take a port between here and its use.
const first, last = 2048, 32000

// Free returns a port that is free for UDP and TCP on every address. No other
// test gets it before this one has ended, in whatever process it runs.
func Free(t testing.TB) int {
	t.Helper()
	return Range(t, 1)
}

// Range returns the first of n such ports in a row.
func Range(t testing.TB, n int) int {
	t.Helper()
	for range 1000 {
		p := first + rand.IntN(last-first-n)
		if claim(t, p, n) {
			return p
		}
	}
	t.Fatalf("no %d free ports in a row between %d and %d", n, first, last)
	return 0
}

// Addr returns a free port of 127.0.0.1 as host:port.
func Addr(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Free(t)))
}

// claim takes n ports for this test, all or none.
func claim(t testing.TB, p, n int) bool {
	var held []net.Listener
	for i := range n {
		l, err := hold(p + i)
		if err != nil || !unused(p+i) {
			if err == nil {
				held = append(held, l)
			}
			for _, l := range held {
				_ = l.Close()
			}
			return false
		}
		held = append(held, l)
	}
	t.Cleanup(func() {
		for _, l := range held {
			_ = l.Close()
		}
	})
	return true
}

// hold marks a port as taken, for all tests on the machine: a name in the
// abstract name space is had by one socket and gone with its process.
func hold(p int) (net.Listener, error) {
	return net.Listen("unix", fmt.Sprintf("@weirline-test-port-%d", p))
}

// unused tells whether nobody, test or not, has bound the port.
func unused(p int) bool {
	at := ":" + strconv.Itoa(p)
	u, err := net.ListenPacket("udp", at)
	if err != nil {
		return false
	}
	defer u.Close()
	l, err := net.Listen("tcp", at)
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}
