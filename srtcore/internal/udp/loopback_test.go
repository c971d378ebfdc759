package udp

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// kinds are the ways to configure a Socket that must not differ in what arrives.
func kinds() map[string]Config {
	m := map[string]Config{"portable": {Portable: true}}
	if runtime.GOOS == "linux" {
		m["GSO+GRO"] = Config{}
		m["GSO"] = Config{NoGRO: true}
		m["GRO"] = Config{NoGSO: true}
		m["plain"] = Config{NoGSO: true, NoGRO: true}
	}
	return m
}

// pairs runs f for every kind of sender with every kind of receiver.
func pairs(t *testing.T, f func(t *testing.T, snd, rcv Config)) {
	for sk, snd := range kinds() {
		for rk, rcv := range kinds() {
			t.Run(sk+" to "+rk, func(t *testing.T) { f(t, snd, rcv) })
		}
	}
}

// mixed returns datagrams of mixed sizes: runs of equal ones, shorter ones
// between, and single bytes.
func mixed(n int, to netip.AddrPort) []dgram.Out {
	sizes := []int{1332, 1332, 1332, 1332, 700, 16, 16, 16, 44, 1332, dgram.Size, dgram.Size, 1, 20}
	out := make([]dgram.Out, n)
	for i := range out {
		out[i] = dgram.Out{Data: payload(i, sizes[i%len(sizes)]), To: to}
	}
	return out
}

func verify(t *testing.T, got []dgram.In, want []dgram.Out, from netip.AddrPort, to netip.Addr) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d datagrams, want %d", len(got), len(want))
	}
	for i, d := range got {
		if !bytes.Equal(d.Buf.Bytes(), want[i].Data) {
			t.Fatalf("datagram %d of %d bytes: content differs (got %d bytes)", i, len(want[i].Data), d.Buf.Len())
		}
		if d.From != from {
			t.Fatalf("datagram %d: from %v, want %v", i, d.From, from)
		}
		if d.To != to {
			t.Fatalf("datagram %d: to %v, want %v", i, d.To, to)
		}
	}
}

func TestMixedSizesArrive(t *testing.T) {
	pairs(t, func(t *testing.T, snd, rcv Config) {
		for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
			a, b := listen(t, addr, snd), listen(t, addr, rcv)
			out := mixed(200, b.LocalAddr())
			a.sendAll(out)
			verify(t, b.collect(len(out), 64), out, a.LocalAddr(), b.LocalAddr().Addr())
			if c := a.Counters(); c.SendDatagrams != 200 || c.SendErrors != 0 {
				t.Errorf("sender: %+v", c)
			}
			if c := b.Counters(); c.RecvDatagrams != 200 || c.Oversize != 0 || c.RecvDropped != 0 {
				t.Errorf("receiver: %+v", c)
			}
		}
	})
}

// A reader with little room gets every datagram all the same.
func TestSmallReads(t *testing.T) {
	pairs(t, func(t *testing.T, snd, rcv Config) {
		a, b := listen(t, "127.0.0.1:0", snd), listen(t, "127.0.0.1:0", rcv)
		out := mixed(150, b.LocalAddr())
		a.sendAll(out)
		for _, lot := range []int{1, 3} {
			half := out[:75]
			verify(t, b.collect(75, lot)[:75], half, a.LocalAddr(), b.LocalAddr().Addr())
			out = out[75:]
		}
	})
}

func TestMoreTellsOfLeftovers(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			a, b := listen(t, "127.0.0.1:0", Config{}), listen(t, "127.0.0.1:0", cfg)
			a.sendAll(mixed(100, b.LocalAddr()))
			b.collect(1, 1)
			dst := make([]dgram.In, 200)
			n, more, err := b.ReadBatch(b.cache, dst[:0])
			if n != 0 || err != nil || (!more && b.FD() >= 0) {
				t.Errorf("no room: %d, %v, %v", n, more, err)
			}
			b.collect(99, 200)
			if n, more, err := b.ReadBatch(b.cache, dst); n != 0 || more || err != nil {
				t.Errorf("nothing left: %d, %v, %v", n, more, err)
			}
		})
	}
}

func TestInterleavedPeers(t *testing.T) {
	pairs(t, func(t *testing.T, snd, rcv Config) {
		a := listen(t, "127.0.0.1:0", snd)
		var peers []*peer
		for range 3 {
			peers = append(peers, listen(t, "127.0.0.1:0", rcv))
		}
		var out []dgram.Out
		want := make([][]dgram.Out, len(peers))
		for i := range 120 {
			k := i % 3
			if i > 60 {
				k = i / 7 % 3
			}
			d := dgram.Out{Data: payload(i, 1000), To: peers[k].LocalAddr()}
			out, want[k] = append(out, d), append(want[k], d)
		}
		a.sendAll(out)
		for k, p := range peers {
			verify(t, p.collect(len(want[k]), 32), want[k], a.LocalAddr(), p.LocalAddr().Addr())
		}
	})
}

func TestOversizeIsCountedAndDropped(t *testing.T) {
	pairs(t, func(t *testing.T, snd, rcv Config) {
		a, b := listen(t, "127.0.0.1:0", snd), listen(t, "127.0.0.1:0", rcv)
		var out, want []dgram.Out
		for i, n := range []int{dgram.Size, dgram.Size + 1, dgram.Size, 3000, 3000, 3000, 9000, 100} {
			d := dgram.Out{Data: payload(i, n), To: b.LocalAddr()}
			out = append(out, d)
			if n <= dgram.Size {
				want = append(want, d)
			}
		}
		a.sendAll(out)
		verify(t, b.collect(len(want), 64), want, a.LocalAddr(), b.LocalAddr().Addr())
		if c := b.Counters(); c.Oversize != 5 {
			t.Errorf("Oversize %d, want 5", c.Oversize)
		}
	})
}

// A dual-stack socket speaks of IPv4 peers by their IPv4 addresses.
func TestDualStack(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			d := listen(t, "[::]:0", cfg)
			if !d.LocalAddr().Addr().Is6() {
				t.Fatalf("local address %v", d.LocalAddr())
			}
			for _, host := range []string{"127.0.0.1", "::1"} {
				host := netip.MustParseAddr(host)
				p := listen(t, netip.AddrPortFrom(host, 0).String(), cfg)
				out := mixed(40, netip.AddrPortFrom(host, d.LocalAddr().Port()))
				p.sendAll(out)
				got := d.collect(len(out), 64)
				to := host
				if cfg.Portable {
					to = netip.Addr{}
				}
				verify(t, got, out, p.LocalAddr(), to)
				back := mixed(40, got[0].From)
				for i := range back {
					back[i].From = got[0].To
				}
				d.sendAll(back)
				verify(t, p.collect(len(back), 64), back, netip.AddrPortFrom(host, d.LocalAddr().Port()), host)
			}
		})
	}
}

func TestMappedPeerIsSentTo(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			a, b := listen(t, "[::ffff:127.0.0.1]:0", cfg), listen(t, "127.0.0.1:0", cfg)
			to := netip.AddrPortFrom(netip.AddrFrom16(b.LocalAddr().Addr().As16()), b.LocalAddr().Port())
			out := mixed(5, to)
			a.sendAll(out)
			verify(t, b.collect(5, 8), out, a.LocalAddr(), b.LocalAddr().Addr())
		})
	}
}

func TestV6Only(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			cfg.V6Only = 1
			d := listen(t, "[::]:0", cfg)
			port := d.LocalAddr().Port()
			// The same port of IPv4 is still free.
			listen(t, fmt.Sprintf("0.0.0.0:%d", port), cfg)
			listen(t, "[::]:0", Config{V6Only: -1, Portable: cfg.Portable})
		})
	}
}

func TestAddressInUse(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			first := listen(t, "127.0.0.1:0", cfg)
			_, err := Listen(first.LocalAddr(), cfg)
			if !errors.Is(err, syscall.EADDRINUSE) {
				t.Fatalf("error %v, want EADDRINUSE", err)
			}
			port := first.LocalAddr().Port()
			for _, part := range []string{
				first.LocalAddr().String(), "address already in use",
				fmt.Sprintf("another program listens on UDP port %d; choose another port or stop it", port),
			} {
				if runtime.GOOS == "windows" && part == "address already in use" {
					continue
				}
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
			if n := strings.Count(err.Error(), first.LocalAddr().String()); n != 1 {
				t.Errorf("error %q names the address %d times", err, n)
			}
		})
	}
}

func TestAddressNotOfThisMachine(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			_, err := Listen(netip.MustParseAddrPort("192.0.2.1:0"), cfg)
			if !errors.Is(err, syscall.EADDRNOTAVAIL) || !strings.Contains(err.Error(), "use one that does or 0.0.0.0 for all") {
				t.Errorf("error %v", err)
			}
			if _, err := Listen(netip.AddrPort{}, cfg); err == nil {
				t.Error("no address: no error")
			}
		})
	}
}

func TestReusePort(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // there is no such option
	}
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			cfg.ReusePort = true
			first := listen(t, "127.0.0.1:0", cfg)
			listen(t, first.LocalAddr().String(), cfg)
		})
	}
}

// A peer that is gone, or an address that cannot be reached, does not keep the
// datagrams of others.
func TestBadPeersDoNotStopOthers(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			a, b := listen(t, "127.0.0.1:0", cfg), listen(t, "127.0.0.1:0", cfg)
			gone := listen(t, "127.0.0.1:0", cfg)
			goneAddr := gone.LocalAddr()
			gone.shut()
			bad := []netip.AddrPort{
				goneAddr,
				{}, // no address at all
				netip.MustParseAddrPort("[2001:db8::1]:9"), // the other family
				netip.MustParseAddrPort("127.0.0.1:0"),     // no port
			}
			var want []dgram.Out
			for round := range 5 {
				var out []dgram.Out
				for i, to := range bad {
					for range 3 {
						out = append(out, dgram.Out{Data: payload(i, 500), To: to})
					}
					good := mixed(6, b.LocalAddr())
					out, want = append(out, good...), append(want, good...)
				}
				if n, err := a.WriteBatch(out); n != len(out) || err != nil {
					t.Fatalf("round %d: %d of %d, %v", round, n, len(out), err)
				}
			}
			verify(t, b.collect(len(want), 64), want, a.LocalAddr(), b.LocalAddr().Addr())
			if c := a.Counters(); c.SendErrors != 5*3*3 {
				t.Errorf("SendErrors %d, want 45", c.SendErrors)
			}
			if a.Counters().GSO == cfg.NoGSO && !cfg.Portable {
				t.Error("bad peers changed the use of trains")
			}
			// The sender still receives, whatever its peers' hosts reported.
			back := mixed(10, a.LocalAddr())
			b.sendAll(back)
			verify(t, a.collect(10, 64), back, b.LocalAddr(), a.LocalAddr().Addr())
		})
	}
}

func TestClose(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			a, b := listen(t, "127.0.0.1:0", cfg), listen(t, "127.0.0.1:0", cfg)
			a.sendAll(mixed(10, b.LocalAddr()))
			b.collect(10, 10)
			before := b.Counters()
			for range 2 {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
			if got := b.Counters(); got != before {
				t.Errorf("counters %+v, want %+v", got, before)
			}
			if _, _, err := b.ReadBatch(b.cache, make([]dgram.In, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("read: %v", err)
			}
			if _, err := b.WriteBatch(mixed(1, a.LocalAddr())); !errors.Is(err, net.ErrClosed) {
				t.Errorf("write: %v", err)
			}
			<-b.done // Pump has returned
			listen(t, b.LocalAddr().String(), cfg)
		})
	}
}

func TestBuffers(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			small := cfg
			small.RecvBuf, small.SendBuf = 20000, 20000
			a, b := listen(t, "127.0.0.1:0", small).Counters(), listen(t, "127.0.0.1:0", cfg).Counters()
			if a.RecvBuf < 20000 || a.SendBuf < 20000 || a.RecvBuf >= b.RecvBuf || a.SendBuf >= b.SendBuf {
				t.Errorf("small %d/%d, default %d/%d", a.RecvBuf, a.SendBuf, b.RecvBuf, b.SendBuf)
			}
		})
	}
}
