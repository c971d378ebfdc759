package loop

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/udp"
)

func out(port uint16, number byte) dgram.Out {
	to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
	return dgram.Out{Data: []byte{byte(port), number}, To: to}
}

// Grouping keeps every datagram, the order within a flow, and flows together.
func TestGrouping(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var g grouping
	for round := range 500 {
		batch := make([]dgram.Out, rnd.IntN(40))
		ports := uint16(1 + rnd.IntN(6))
		for i := range batch {
			batch[i] = out(1+uint16(rnd.IntN(int(ports))), byte(i))
		}
		n := len(batch)
		g.group(batch)
		seen := map[uint16]int{}
		total, runs := 0, 0
		for i, o := range batch {
			total++
			last, known := seen[o.To.Port()]
			if i == 0 || batch[i-1].To != o.To {
				runs++
			}
			if known && last >= int(o.Data[1]) {
				t.Fatalf("round %d: order of port %d changed", round, o.To.Port())
			}
			seen[o.To.Port()] = int(o.Data[1])
		}
		if total != n || runs != len(seen) {
			t.Fatalf("round %d: %d datagrams of %d, %d runs of %d flows", round, total, n, runs, len(seen))
		}
	}
}

func TestWriteGivesUpOnlyOnOne(t *testing.T) {
	var sent []byte
	w := writer{send: func(o []dgram.Out) (int, error) {
		if o[0].Data[1] == 2 {
			return 0, errors.New("hopeless")
		}
		sent = append(sent, o[0].Data[1])
		return 1, nil
	}}
	if n := w.write([]dgram.Out{out(1, 1), out(1, 2), out(1, 3)}); n != 3 || string(sent) != "\x01\x03" {
		t.Errorf("write = %d, sent %v", n, sent)
	}
}

// A system that takes nothing for a while costs delay, not data and not order.
func TestBlockedSocket(t *testing.T) {
	g, a, b := connected(t)
	refused := atomic.Int32{}
	rnd := rand.New(rand.NewPCG(7, 8))
	done := make(chan struct{})
	a.loop.mail.post(func() {
		a.sock.out.send = func(o []dgram.Out) (int, error) {
			if rnd.IntN(3) > 0 {
				refused.Add(1)
				n := rnd.IntN(len(o))
				_, _ = a.sock.udp.WriteBatch(o[:n])
				return n, udp.ErrAgain
			}
			return a.sock.udp.WriteBatch(o)
		}
		close(done)
	})
	<-done
	const count = 2000
	Go(func() {
		var p [8]byte
		for i := range count {
			binary.BigEndian.PutUint64(p[:], uint64(i))
			for a.Write(p[:], Now()) == ErrAgain {
				if ch, ok := a.ArmWrite(); ok {
					<-ch
					a.DisarmWrite()
				}
			}
		}
	})
	p := make([]byte, 100)
	for i := 0; i < count; {
		n, _, err := b.Read(p)
		switch {
		case err == ErrAgain:
			if ch, ok := b.ArmRead(); ok {
				<-ch
				b.DisarmRead()
			}
		case err != nil || n != 8 || binary.BigEndian.Uint64(p) != uint64(i):
			t.Fatalf("message %d: %d bytes, %d, %v", i, n, binary.BigEndian.Uint64(p), err)
		default:
			i++
		}
	}
	if refused.Load() == 0 {
		t.Error("the socket was never blocked")
	}
	g.Close()
	if a.Cause() != ErrClosed {
		t.Errorf("cause %v", a.Cause())
	}
}

// connected returns two ends of a connection over the loopback interface.
func connected(t *testing.T) (g *Group, a, b *Conn) {
	t.Helper()
	g, err := NewGroup(Config{Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	cfg := engine.DefaultConfig()
	cfg.RcvLatency = 50 * time.Millisecond
	bind := netip.MustParseAddrPort("127.0.0.1:0")
	ln, err := g.Listen(ListenConfig{Bind: bind, Engine: &cfg, Backlog: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a, err = g.Dial(DialConfig{Peer: ln.Addr(), Engine: &cfg, Socket: SocketKey{Bind: bind}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-a.Established():
	case <-a.Done():
		t.Fatal(a.Cause())
	}
	for {
		if b, err = ln.Accept(); err == nil {
			return g, a, b
		}
		if ch, ok := ln.Arm(); ok {
			<-ch
			ln.Disarm()
		}
	}
}
