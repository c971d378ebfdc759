//go:build linux

package udp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// native are the kinds of the Linux socket.
func native() map[string]Config {
	m := kinds()
	delete(m, "portable")
	return m
}

// equal returns n datagrams of one size.
func equal(n, size int, to netip.AddrPort) []dgram.Out {
	out := make([]dgram.Out, n)
	for i := range out {
		out[i] = dgram.Out{Data: payload(i, size), To: to}
	}
	return out
}

// Trains of equal sizes are what some kernels damage: every byte is compared.
func TestEqualTrainsArriveWhole(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		a, b := listen(t, addr, Config{}), listen(t, addr, Config{})
		if c := a.Counters(); !c.GSO || !c.GRO {
			t.Fatalf("this kernel has no trains: %+v", c)
		}
		out := equal(10000, 1332, b.LocalAddr())
		for len(out) > 0 {
			lot := out[:min(96, len(out))]
			out = out[len(lot):]
			a.sendAll(lot)
			got := b.collect(len(lot), 256)
			verify(t, got, lot, a.LocalAddr(), b.LocalAddr().Addr())
			for _, d := range got {
				b.cache.Put(d.Buf)
			}
		}
		snd, rcv := a.Counters(), b.Counters()
		if snd.Trains < 200 || snd.SendCalls > 300 {
			t.Errorf("sender did not use trains: %+v", snd)
		}
		if rcv.RecvCalls > 1000 || rcv.RecvDropped != 0 {
			t.Errorf("receiver: %+v", rcv)
		}
	}
}

// Replies must leave from the address that was called.
func TestReplyLeavesFromCalledAddress(t *testing.T) {
	for name, cfg := range native() {
		for _, c := range []struct{ bind, caller, called string }{
			{"0.0.0.0:0", "127.0.0.1:0", "127.0.0.2"},
			{"0.0.0.0:0", "127.0.0.3:0", "127.0.0.1"},
			{"[::]:0", "127.0.0.1:0", "127.0.0.2"},
			{"[::]:0", "[::1]:0", "::1"},
		} {
			t.Run(name+" "+c.bind+" "+c.called, func(t *testing.T) {
				server, caller := listen(t, c.bind, cfg), listen(t, c.caller, cfg)
				called := netip.AddrPortFrom(netip.MustParseAddr(c.called), server.LocalAddr().Port())
				out := mixed(30, called)
				caller.sendAll(out)
				got := server.collect(len(out), 32)
				verify(t, got, out, caller.LocalAddr(), called.Addr())
				back := mixed(30, got[0].From)
				for i := range back {
					back[i].From = got[0].To
				}
				server.sendAll(back)
				verify(t, caller.collect(len(back), 32), back, called, caller.LocalAddr().Addr())
			})
		}
	}
}

// A source address of the other family, or any one on a socket bound to one
// address, changes nothing.
func TestUselessSourceIsIgnored(t *testing.T) {
	for _, bind := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0"} {
		a, b := listen(t, bind, Config{}), listen(t, "127.0.0.1:0", Config{})
		from := netip.IPv6Loopback()
		if bind == "127.0.0.1:0" {
			from = netip.MustParseAddr("127.0.0.2")
		}
		out := equal(5, 100, b.LocalAddr())
		for i := range out {
			out[i].From = from
		}
		a.sendAll(out)
		want := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), a.LocalAddr().Port())
		verify(t, b.collect(5, 8), out, want, b.LocalAddr().Addr())
	}
}

// A source address that the machine lost is the datagrams' fault, not that of
// trains.
func TestLostSourceDoesNotEndTrains(t *testing.T) {
	a, b := listen(t, "0.0.0.0:0", Config{}), listen(t, "127.0.0.1:0", Config{})
	lost := equal(5, 100, b.LocalAddr())
	for i := range lost {
		lost[i].From = netip.MustParseAddr("192.0.2.1")
	}
	good := equal(7, 100, b.LocalAddr())
	a.sendAll(append(lost, good...))
	from := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), a.LocalAddr().Port())
	verify(t, b.collect(7, 8), good, from, b.LocalAddr().Addr())
	if c := a.Counters(); c.SendErrors != 5 || !c.GSO || c.SendDatagrams != 7 {
		t.Errorf("%+v", c)
	}
}

// Without checksums the kernel refuses trains with EINVAL.
func TestRefusedTrainsAreSwitchedOff(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Config{}), listen(t, "127.0.0.1:0", Config{})
	if err := unix.SetsockoptInt(a.FD(), unix.SOL_SOCKET, unix.SO_NO_CHECK, 1); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		out := mixed(60, b.LocalAddr())
		if n, err := a.WriteBatch(out); n != len(out) || err != nil {
			t.Fatalf("round %d: %d, %v", round, n, err)
		}
		verify(t, b.collect(len(out), 64), out, a.LocalAddr(), b.LocalAddr().Addr())
	}
	if c := a.Counters(); c.GSO || c.Trains != 0 || c.SendErrors != 0 {
		t.Errorf("%+v", c)
	}
}

// Segments longer than the path's MTU: the train leaves as single datagrams,
// which the system fragments.
func TestTrainsLongerThanTheMTU(t *testing.T) {
	a, b := listen(t, "[::1]:0", Config{}), listen(t, "[::1]:0", Config{})
	if err := unix.SetsockoptInt(a.FD(), unix.SOL_IPV6, unix.IPV6_MTU, 1280); err != nil {
		t.Fatal(err)
	}
	out := append(equal(20, 1400, b.LocalAddr()), equal(20, 400, b.LocalAddr())...)
	a.sendAll(out)
	verify(t, b.collect(len(out), 64), out, a.LocalAddr(), b.LocalAddr().Addr())
	if c := a.Counters(); c.SendErrors != 0 || c.SendDatagrams != 40 {
		t.Errorf("%+v", c)
	}
}

// What the sender does with each error of the kernel.
func TestSendErrors(t *testing.T) {
	long := train{count: 5}
	single := train{count: 1}
	for _, c := range []struct {
		errno unix.Errno
		t     train
		n     int
		again bool
		plain fallback
		gso   bool
	}{
		{unix.EAGAIN, long, 0, true, fallback{}, true},
		{unix.ENOBUFS, long, 0, true, fallback{}, true},
		{unix.EINTR, long, 0, false, fallback{}, true},
		{unix.EIO, long, 0, false, fallback{left: 5}, false},
		{unix.EINVAL, long, 0, false, fallback{left: 5, suspect: true}, true},
		{unix.EMSGSIZE, long, 0, false, fallback{left: 5}, true},
		{unix.EIO, single, 1, false, fallback{}, true},
		{unix.EINVAL, single, 1, false, fallback{}, true},
		{unix.EMSGSIZE, single, 1, false, fallback{}, true},
		{unix.ECONNREFUSED, long, 5, false, fallback{}, true},
		{unix.ENETUNREACH, long, 5, false, fallback{}, true},
		{unix.EHOSTUNREACH, single, 1, false, fallback{}, true},
		{unix.EPERM, single, 1, false, fallback{}, true},
	} {
		w := newSender(&socket{gso: true})
		var plain fallback
		n, err := w.failed(c.t, c.errno, &plain)
		if n != c.n || (err == ErrAgain) != c.again || plain != c.plain || w.s.gso != c.gso {
			t.Errorf("%v of %d: n %d, err %v, %+v, gso %v", c.errno, c.t.count, n, err, plain, w.s.gso)
		}
		if w.s.count.SendErrors != uint64(c.n) {
			t.Errorf("%v of %d: SendErrors %d", c.errno, c.t.count, w.s.count.SendErrors)
		}
	}
}

func TestTooLongToSendIsCounted(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			a, b := listen(t, "127.0.0.1:0", cfg), listen(t, "127.0.0.1:0", cfg)
			out := equal(3, 100, b.LocalAddr())
			huge := []dgram.Out{{Data: make([]byte, 65508), To: b.LocalAddr()}}
			a.sendAll(append(huge, out...))
			verify(t, b.collect(3, 8), out, a.LocalAddr(), b.LocalAddr().Addr())
			if c := a.Counters(); c.SendErrors != 1 {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestEmptyDatagramsArrive(t *testing.T) {
	for name, cfg := range native() {
		t.Run(name, func(t *testing.T) {
			a, b := listen(t, "127.0.0.1:0", cfg), listen(t, "127.0.0.1:0", cfg)
			var out []dgram.Out
			for i, n := range []int{10, 10, 0, 0, 10} {
				out = append(out, dgram.Out{Data: payload(i, n), To: b.LocalAddr()})
			}
			a.sendAll(out)
			verify(t, b.collect(len(out), 8), out, a.LocalAddr(), b.LocalAddr().Addr())
		})
	}
}

func TestKernelDropsAreCounted(t *testing.T) {
	for name, cfg := range native() {
		t.Run(name, func(t *testing.T) {
			cfg.RecvBuf = 10000
			a, b := listen(t, "127.0.0.1:0", cfg), listen(t, "127.0.0.1:0", cfg)
			a.sendAll(equal(300, 1000, b.LocalAddr()))
			dst := make([]dgram.In, 300)
			got, _, _ := b.ReadBatch(b.cache, dst)
			if c := b.Counters(); c.RecvDropped == 0 || got == 300 {
				t.Errorf("got %d, %+v", got, c)
			}
		})
	}
}

func TestHeaderOptions(t *testing.T) {
	get := func(p *peer, level, name int) int {
		n, err := unix.GetsockoptInt(p.FD(), level, name)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	cfg := Config{TTL: 17, TOS: 0xB8}
	v4, dual := listen(t, "127.0.0.1:0", cfg), listen(t, "[::]:0", cfg)
	for _, p := range []*peer{v4, dual} {
		if ttl, tos := get(p, unix.SOL_IP, unix.IP_TTL), get(p, unix.SOL_IP, unix.IP_TOS); ttl != 17 || tos != 0xB8 {
			t.Errorf("%v: TTL %d, TOS %#x", p.LocalAddr(), ttl, tos)
		}
	}
	if hops, class := get(dual, unix.SOL_IPV6, unix.IPV6_UNICAST_HOPS), get(dual, unix.SOL_IPV6, unix.IPV6_TCLASS); hops != 17 || class != 0xB8 {
		t.Errorf("hops %d, class %#x", hops, class)
	}
	for name, cfg := range kinds() {
		cfg.TTL = 300
		_, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), cfg)
		if !errors.Is(err, unix.EINVAL) || !strings.Contains(fmt.Sprint(err), "IP_TTL") {
			t.Errorf("%s: TTL 300: %v", name, err)
		}
	}
}

func TestDevice(t *testing.T) {
	for name, cfg := range kinds() {
		t.Run(name, func(t *testing.T) {
			cfg.Device = "nosuch0"
			_, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), cfg)
			if err == nil || !strings.Contains(err.Error(), `"nosuch0"`) && !errors.Is(err, unix.EPERM) {
				t.Errorf("error %v", err)
			}
			cfg.Device = "lo"
			if s, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), cfg); err == nil {
				s.Close()
			} else if !errors.Is(err, unix.EPERM) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAddressesThereAndBack(t *testing.T) {
	var z zones
	for _, c := range []struct {
		addr string
		v6   bool
		size uint32
		want string
	}{
		{"1.2.3.4:5678", false, unix.SizeofSockaddrInet4, "1.2.3.4:5678"},
		{"1.2.3.4:5678", true, unix.SizeofSockaddrInet6, "1.2.3.4:5678"},
		{"[2001:db8::1]:9000", true, unix.SizeofSockaddrInet6, "[2001:db8::1]:9000"},
		{"[fe80::1%lo]:9000", true, unix.SizeofSockaddrInet6, "[fe80::1%lo]:9000"},
		{"[fe80::1%4000000000]:9000", true, unix.SizeofSockaddrInet6, "[fe80::1%4000000000]:9000"},
		{"[2001:db8::1]:9000", false, unix.SizeofSockaddrInet6, "[2001:db8::1]:9000"},
	} {
		for range 2 { // once more with what zones remembers
			var sa sockaddr
			if n := putAddr(&sa, netip.MustParseAddrPort(c.addr), c.v6, &z); n != c.size {
				t.Errorf("%s: %d bytes, want %d", c.addr, n, c.size)
			}
			if got := getAddr(&sa, &z).String(); got != c.want {
				t.Errorf("%s: got %s, want %s", c.addr, got, c.want)
			}
		}
	}
}

func TestControlMessages(t *testing.T) {
	for _, c := range []struct {
		from string
		v6   bool
	}{{"", false}, {"", true}, {"127.0.0.2", false}, {"127.0.0.2", true}, {"::1", true}} {
		var ctl control
		n := ctl.addStride(0, 1332)
		var want netip.Addr
		if c.from != "" {
			want = netip.MustParseAddr(c.from)
			n = ctl.addSource(n, want, c.v6)
		}
		var stamp []byte
		stamp, n = ctl.add(n, unix.SOL_SOCKET, unix.SCM_TIMESTAMPNS, 16)
		binary.NativeEndian.PutUint64(stamp, 3)
		binary.NativeEndian.PutUint64(stamp[8:], 5)
		if got := readControl(ctl.bytes()[:n]); got.to != want || got.at != 3e9+5 {
			t.Errorf("%+v: read back %+v", c, got)
		}
		for cut := range n { // what is cut off is not read
			readControl(bytes.Clone(ctl.bytes()[:cut]))
		}
	}
	var ctl control
	data, n := ctl.add(0, unix.SOL_UDP, unix.UDP_GRO, 4)
	copy(data, bytes.Repeat([]byte{1}, 4))
	if got := readControl(ctl.bytes()[:n]); got.stride != 0x01010101 {
		t.Errorf("stride %#x", got.stride)
	}
}

func TestDescriptorsComeBack(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	listen(t, "127.0.0.1:0", Config{Portable: true}).shut() // the runtime's poller opens its own
	before := count()
	for _, cfg := range kinds() {
		for range 10 {
			a, b := listen(t, "0.0.0.0:0", cfg), listen(t, "[::]:0", cfg)
			a.sendAll(equal(3, 100, b.reachable4()))
			b.collect(3, 4)
			if s, err := Listen(a.LocalAddr(), cfg); err == nil {
				s.Close()
				t.Error("the port was free")
			}
			a.shut()
			b.shut()
		}
	}
	if after := count(); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

// reachable4 returns the IPv4 loopback address of p.
func (p *peer) reachable4() netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), p.LocalAddr().Port())
}

// The kernel's note of an arrival is that of the arrival, not of the reading.
// It begins to take notes some time after the first socket asks for them.
func TestArrivalIsTold(t *testing.T) {
	a, b := listen(t, "127.0.0.1:0", Config{}), listen(t, "127.0.0.1:0", Config{})
	const rest = 2 * time.Millisecond
	for until := time.Now().Add(patience); ; {
		sent := time.Now()
		a.sendAll([]dgram.Out{{Data: payload(1, 100), To: b.LocalAddr()}})
		for time.Since(sent) < rest {
			runtime.Gosched()
		}
		d := b.collect(1, 8)[0]
		read := time.Now()
		if at := time.Unix(0, d.At); d.At != 0 && at.Sub(sent) > -rest && read.Sub(at) >= rest/2 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("sent at %v, read at %v, said to have come at %v", sent, read, time.Unix(0, d.At))
		}
	}
}
