package srtcore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

func TestDialNobody(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		nobody := loopback(t)
		start := time.Now()
		_, err := r.tryDial(nobody.LocalAddr().String(), func(c *srtcore.Config) { c.ConnTimeout = 150 * time.Millisecond })
		if ne, ok := errors.AsType[net.Error](err); !errors.Is(err, srtcore.ErrConnTimeout) || !ok || !ne.Timeout() {
			t.Errorf("Dial = %v, want ErrConnTimeout", err)
		}
		for _, part := range []string{"dial " + nobody.LocalAddr().String(), "150ms", "firewall"} {
			if !strings.Contains(fmt.Sprint(err), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
		if took := time.Since(start); took < 140*time.Millisecond || took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestDialCancel(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	nobody := loopback(t)
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan error)
	go func() { _, err := srtcore.Dial(ctx, nobody.LocalAddr().String(), &r.cfg); done <- err }()
	b := make([]byte, 100)
	if _, _, err := nobody.ReadFrom(b); err != nil { // the call is under way
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Dial = %v", err)
	}
}

func TestDialErrors(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	for addr, want := range map[string]string{
		"127.0.0.1":              "host:port",
		":9000":                  "no host to call",
		"127.0.0.1:0":            "no port to call",
		"no-such-host.invalid:1": "no-such-host.invalid",
	} {
		_, err := r.tryDial(addr)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Dial %q = %v, want it to say %q", addr, err, want)
		}
	}
	if _, err := r.tryDial("127.0.0.1:9", func(c *srtcore.Config) { c.Passphrase = "short" }); err == nil {
		t.Error("a bad configuration was taken")
	}
	if _, err := r.tryDial("127.0.0.1:9", func(c *srtcore.Config) { c.LocalAddr = "[::1]:0" }); err == nil || !strings.Contains(err.Error(), "different families") {
		t.Errorf("Dial = %v", err)
	}
	if _, err := r.tryDial("127.0.0.1:9", func(c *srtcore.Config) { c.LocalAddr = "192.0.2.1:0" }); err == nil || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("Dial = %v", err)
	}
}

func needIPv6(t *testing.T) {
	t.Helper()
	c, err := net.ListenPacket("udp6", "[::1]:0")
	if err != nil {
		t.Fatalf("the IPv6 loopback is needed, enable it: %v", err)
	}
	_ = c.Close()
}

func TestAddresses(t *testing.T) {
	needIPv6(t)
	for _, tc := range []struct {
		listen string
		call   []string // hosts that reach it
	}{
		{"127.0.0.1:0", []string{"127.0.0.1", "localhost"}},
		{"0.0.0.0:0", []string{"127.0.0.1", "127.0.0.2", "0.0.0.0", "localhost"}},
		{"[::1]:0", []string{"::1"}},
		{"[::]:0", []string{"::1", "127.0.0.1", "127.0.0.3", "::ffff:127.0.0.1", "::"}},
		{":0", []string{"::1", "127.0.0.1", "127.0.0.4", "localhost"}},
		{"localhost:0", []string{"localhost"}},
	} {
		t.Run(tc.listen, func(t *testing.T) {
			onRuntimes(t, func(t *testing.T, r *rig) {
				l := r.listen(tc.listen)
				for _, host := range tc.call {
					if r.portable && strings.HasPrefix(host, "127.0.0.") && host != "127.0.0.1" {
						continue // the portable socket does not know the called address
					}
					port := fmt.Sprint(l.Addr().(*net.UDPAddr).Port)
					c := r.dial(net.JoinHostPort(host, port))
					s := r.accept(l)
					r.wantWrite(c, host)
					r.wantRead(s, host)
					r.wantWrite(s, "back")
					r.wantRead(c, "back")
				}
			})
		})
	}
}

func TestIPv6Only(t *testing.T) {
	needIPv6(t)
	r := newRig(t, srtcore.RuntimeConfig{})
	l := r.listen(":0", func(c *srtcore.Config) { c.IPv6Only = 1 })
	port := fmt.Sprint(l.Addr().(*net.UDPAddr).Port)
	r.dial("[::1]:" + port)
	_, err := r.tryDial("127.0.0.1:"+port, func(c *srtcore.Config) { c.ConnTimeout = 100 * time.Millisecond })
	if !errors.Is(err, srtcore.ErrConnTimeout) {
		t.Errorf("Dial = %v", err)
	}
}

// Callers from one local port, with several peers, share the socket.
func TestLocalAddr(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		free := loopback(t)
		local := free.LocalAddr().String()
		_ = free.Close()
		for range 2 {
			l := r.listen("127.0.0.1:0")
			c := r.dial(l.Addr().String(), func(c *srtcore.Config) { c.LocalAddr = local })
			s := r.accept(l)
			if c.LocalAddr().String() != local || s.RemoteAddr().String() != local {
				t.Errorf("local address %v, seen by the peer %v; want %s", c.LocalAddr(), s.RemoteAddr(), local)
			}
			r.wantWrite(c, "x")
			r.wantRead(s, "x")
		}
	})
}
