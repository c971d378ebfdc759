package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"github.com/weirline/weirline/tests/port"
)

// loopback is the name of the loopback interface.
func loopback(t *testing.T) string {
	t.Helper()
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if i.Flags&net.FlagLoopback != 0 {
			return i.Name
		}
	}
	t.Fatal("no loopback interface")
	return ""
}

// receive reads messages as they come.
func receive(t *testing.T, raw string) <-chan []byte {
	t.Helper()
	src, err := mustSource(t, raw).OpenSource(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	t.Cleanup(func() { src.Close() })
	got := make(chan []byte, 100)
	go func() {
		defer close(got)
		msgs := make([][]byte, 8)
		for {
			n, err := src.ReadBatch(msgs)
			if err != nil {
				return
			}
			for _, m := range msgs[:n] {
				got <- bytes.Clone(m)
			}
		}
	}()
	return got
}

func sendTo(t *testing.T, raw string, msgs ...[]byte) {
	t.Helper()
	sink, err := mustSink(t, raw).OpenSink(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	defer sink.Close()
	if err := sink.WriteBatch(msgs); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func wantNext(t *testing.T, what string, from <-chan []byte, want []byte) {
	t.Helper()
	select {
	case got := <-from:
		if !bytes.Equal(got, want) {
			t.Errorf("%s: another message: %q, want %q", what, got, want)
		}
	case <-time.After(5 * time.Second):
		t.Fatalf("%s: nothing came", what)
	}
}

func TestMulticast(t *testing.T) {
	lo, port := loopback(t), port.Free(t)
	group := func(ip, options string) string {
		return fmt.Sprintf("udp://%s:%d?%s", ip, port, options)
	}
	one := receive(t, group("239.255.7.1", "iface="+lo))
	same := receive(t, group("@239.255.7.1", "iface=127.0.0.1")) // the interface by its address
	other := receive(t, group("239.255.7.2", "iface="+lo))
	specific := receive(t, group("232.1.7.3", "iface="+lo+"&source=127.0.0.1"))
	stranger := receive(t, group("232.1.7.3", "iface="+lo+"&source=127.0.0.9"))

	first, second, last := media(7), media(3), []byte("last")
	sendTo(t, group("239.255.7.1", "iface="+lo+"&ttl=1"), first, second)
	sendTo(t, group("239.255.7.2", "iface="+lo), last)
	sendTo(t, group("232.1.7.3", "iface=127.0.0.1"), last)
	sendTo(t, fmt.Sprintf("udp://127.0.0.1:%d", port), []byte("not to a group"))
	for what, c := range map[string]<-chan []byte{"first": one, "second on the same port": same} {
		wantNext(t, what, c, first)
		wantNext(t, what, c, second)
	}
	// Nobody hears what is for another group, or comes from another sender: the first
	// thing that comes is what is for it.
	wantNext(t, "another group", other, last)
	wantNext(t, "its sender", specific, last)
	sendTo(t, group("239.255.7.1", "iface="+lo), last)
	wantNext(t, "after all", one, last)
	select {
	case m := <-stranger:
		t.Errorf("heard from a sender it had not asked for: %q", m)
	default:
	}
}

func TestOptionsReachTheSocket(t *testing.T) {
	open := func(raw string) *net.UDPConn {
		sink, err := mustSink(t, raw).OpenSink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sink.Abort)
		return sink.(*udpSink).c
	}
	p := ipv4.NewPacketConn(open("udp://239.255.7.4:5000?ttl=7&loop=0&iface=" + loopback(t)))
	ttl, err1 := p.MulticastTTL()
	loop, err2 := p.MulticastLoopback()
	if ttl != 7 || loop || err1 != nil || err2 != nil {
		t.Errorf("ttl %d, loop %v, %v, %v", ttl, loop, err1, err2)
	}
	if ttl, err := ipv4.NewConn(open("udp://127.0.0.1:5000?ttl=9")).TTL(); ttl != 9 || err != nil {
		t.Errorf("to a host: ttl %d, %v", ttl, err)
	}
}

// The loopback interface has no route for IPv6 groups; what can be seen there is
// that the group is joined and the socket is set up.
func TestMulticastOverIPv6(t *testing.T) {
	lo, port := loopback(t), port.Free(t)
	for _, raw := range []string{"udp://[ff01::7%%25%s]:%d", "udp://[ff01::7%%%s]:%d", "udp://[ff01::7]:%[2]d?iface=%[1]s"} {
		src, err := mustSource(t, fmt.Sprintf(raw, lo, port)).OpenSource(t.Context())
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		src.Close()
	}
	sink, err := mustSink(t, fmt.Sprintf("udp://[ff01::7]:%d?iface=%s&ttl=3&loop=0", port, lo)).OpenSink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Abort()
	p := ipv6.NewPacketConn(sink.(*udpSink).c)
	hops, err1 := p.MulticastHopLimit()
	loop, err2 := p.MulticastLoopback()
	if hops != 3 || loop || err1 != nil || err2 != nil {
		t.Errorf("%d hops, loop %v, %v, %v", hops, loop, err1, err2)
	}
}

func TestGroupThatMayNotBeShared(t *testing.T) {
	raw := fmt.Sprintf("udp://239.255.7.5:%d?iface=%s&reuse=0", port.Free(t), loopback(t))
	receive(t, raw)
	_, err := mustSource(t, raw).OpenSource(t.Context())
	if !errors.Is(err, syscall.EADDRINUSE) || Judge(err).Kind != Busy {
		t.Errorf("a second one: %v", err)
	}
}

func TestInterfaceThatIsNotThere(t *testing.T) {
	for _, name := range []string{"nosuch0", "192.0.2.200"} {
		raw := "udp://239.255.7.6:5000?iface=" + name
		_, err := mustSource(t, raw).OpenSource(t.Context())
		_, err2 := mustSink(t, raw).OpenSink(t.Context())
		for _, err := range []error{err, err2} {
			if _, ok := errors.AsType[*InterfaceError](err); !ok {
				t.Errorf("%s: %v", name, err)
			} else if f := Judge(err); f.Final || f.Advice == "" {
				t.Errorf("%s: judged %+v", name, f)
			}
		}
	}
}
