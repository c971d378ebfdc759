package impair

import (
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"
)

// echo answers every datagram with itself and reports where it came from.
func echo(t *testing.T, addr string) (*net.UDPConn, <-chan netip.AddrPort) {
	t.Helper()
	c := udpSocket(t, addr)
	from := make(chan netip.AddrPort, 1024)
	go func() {
		buf := make([]byte, 2048)
		for {
			n, a, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			from <- a
			_, _ = c.WriteToUDPAddrPort(buf[:n], a)
		}
	}()
	return c, from
}

func udpSocket(t *testing.T, addr string) *net.UDPConn {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(addr)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func startRelay(t *testing.T, cfg Config) *Relay {
	t.Helper()
	r, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// roundTrip sends one datagram and waits for the answer.
func roundTrip(t *testing.T, c *net.UDPConn, r *Relay, text string) time.Duration {
	t.Helper()
	start := time.Now()
	if _, err := c.WriteToUDPAddrPort([]byte(text), netip.MustParseAddrPort(r.Addr())); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	buf := make([]byte, 2048)
	n, from, err := c.ReadFromUDPAddrPort(buf)
	if err != nil {
		t.Fatal(err)
	}
	if string(buf[:n]) != text || unmap(from).String() != r.Addr() {
		t.Fatalf("got %q from %v", buf[:n], from)
	}
	return time.Since(start)
}

func TestRelayCarriesBothWays(t *testing.T) {
	for _, host := range []string{"127.0.0.1:0", "[::1]:0"} {
		target, _ := echo(t, host)
		r := startRelay(t, Config{Listen: host, Target: target.LocalAddr().String(),
			Up: Path{Delay: 30 * time.Millisecond}, Down: Path{Delay: 20 * time.Millisecond}})
		a, b := udpSocket(t, host), udpSocket(t, host)
		if rtt := roundTrip(t, a, r, "first caller"); rtt < 50*time.Millisecond {
			t.Errorf("%s: round trip %v, want at least 50ms", host, rtt)
		}
		roundTrip(t, b, r, "second caller")
		up, down := r.Stats()
		if up.In != 2 || up.Out != 2 || down.In != 2 || down.Out != 2 || up.Clients != 2 {
			t.Errorf("%s: up %+v down %+v", host, up, down)
		}
	}
}

func TestRelayMovesItsPort(t *testing.T) {
	target, from := echo(t, "127.0.0.1:0")
	r := startRelay(t, Config{Target: target.LocalAddr().String(), MovePortAfter: time.Nanosecond})
	r.mu.Lock()
	r.moved = true // hold the move until the first datagram has made a session
	r.mu.Unlock()
	c := udpSocket(t, "127.0.0.1:0")
	roundTrip(t, c, r, "before")
	r.mu.Lock()
	r.moved = false
	r.mu.Unlock()
	roundTrip(t, c, r, "after")
	if a, b := <-from, <-from; a.Port() == b.Port() {
		t.Errorf("both came from port %d", a.Port())
	}
}

func TestRelayLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	target, _ := echo(t, "127.0.0.1:0")
	r, err := Start(Config{Target: target.LocalAddr().String(), Up: Path{Delay: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	c := udpSocket(t, "127.0.0.1:0")
	if _, err := c.WriteToUDPAddrPort([]byte("never arrives"), netip.MustParseAddrPort(r.Addr())); err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.Close()
	target.Close()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

func TestStartRefusesNonsense(t *testing.T) {
	for _, cfg := range []Config{{Target: "nowhere"}, {Target: "127.0.0.1:9", Listen: "203.0.113.1:x"}} {
		if r, err := Start(cfg); err == nil {
			r.Close()
			t.Errorf("%+v was accepted", cfg)
		}
	}
}
