package udp

import (
	"runtime"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// traffic is a round of one tick: a train of 48, three ACKs; and its reading.
type traffic struct {
	a, b *peer
	out  []dgram.Out
	in   []dgram.In
}

func newTraffic(a, b *peer) *traffic {
	x := &traffic{a: a, b: b, in: make([]dgram.In, 64)}
	for i := range 51 {
		n := 44
		if i >= 3 {
			n = 1332
		}
		x.out = append(x.out, dgram.Out{Data: payload(i, n), To: b.reachable()})
	}
	return x
}

func (x *traffic) round(tb testing.TB) {
	if n, err := x.a.WriteBatch(x.out); n != len(x.out) || err != nil {
		tb.Fatalf("sent %d, %v", n, err)
	}
	for got := 0; got < len(x.out); {
		n, _, err := x.b.ReadBatch(x.b.cache, x.in)
		if err != nil {
			tb.Fatal(err)
		}
		for _, d := range x.in[:n] {
			x.b.cache.Put(d.Buf)
		}
		if got += n; n == 0 {
			x.b.waitBriefly()
		}
	}
}

// waitBriefly waits without allocating until there may be something to read.
func (p *peer) waitBriefly() {
	if p.FD() < 0 {
		<-p.wake
		return
	}
	runtime.Gosched()
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for name, cfg := range kinds() {
		for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0"} {
			t.Run(name+" "+addr, func(t *testing.T) {
				x := newTraffic(listen(t, addr, cfg), listen(t, addr, cfg))
				guard := time.AfterFunc(patience, func() { panic("datagrams were lost") })
				defer guard.Stop()
				for range 20 {
					x.round(t)
				}
				if n := testing.AllocsPerRun(200, func() { x.round(t) }); n != 0 {
					t.Errorf("%v allocations a round", n)
				}
			})
		}
	}
}

// BenchmarkTrain48 is a tick's traffic from the sender through the kernel into
// the receiver's Bufs.
func BenchmarkTrain48(b *testing.B) {
	for name, cfg := range kinds() {
		b.Run(name, func(b *testing.B) {
			x := newTraffic(listen(b, "127.0.0.1:0", cfg), listen(b, "127.0.0.1:0", cfg))
			b.ReportAllocs()
			for b.Loop() {
				x.round(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x.out)), "ns/datagram")
		})
	}
}
