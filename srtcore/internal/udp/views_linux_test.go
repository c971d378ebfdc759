package udp

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// isView tells a view, which has no more room than its datagram, from a Buf with
// memory of its own.
func isView(b *dgram.Buf) bool { return b.Len() < dgram.Size && len(b.Mem()) == b.Len() }

// lendAll lends slabs until no more are lent, and returns how many that were.
func lendAll(c *dgram.Cache) (n int, s *dgram.Slab) {
	for s = c.Slab(); ; n++ {
		next := c.Lend(s, 1)
		if next == nil {
			return n, s
		}
		c.PutSlab(next)
	}
}

// trains returns a sender of trains and a receiver.
func trains(t testing.TB, cfg Config) (a, b *peer) {
	return listen(t, "127.0.0.1:0", Config{}), listen(t, "127.0.0.1:0", cfg)
}

func putAll(c *dgram.Cache, in []dgram.In) {
	for _, d := range in {
		c.Put(d.Buf)
	}
}

func TestTrainsBecomeViews(t *testing.T) {
	for _, c := range []struct {
		name        string
		cfg         Config
		count, last int // datagrams of 1332 bytes, and one of this length
		want        int // views
	}{
		{"full", Config{}, 47, 44, 48},
		{"half", Config{}, 25, 1000, 26},
		{"less than half", Config{}, 24, 100, 0},
		{"a rest too short for a Buf", Config{}, 40, 15, 40},
		{"without GRO", Config{NoGRO: true}, 48, 44, 0},
		{"portable", Config{Portable: true}, 48, 44, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := trains(t, c.cfg)
			for range 3 {
				out := append(equal(c.count, 1332, b.LocalAddr()), dgram.Out{Data: payload(c.count, c.last), To: b.LocalAddr()})
				a.sendAll(out)
				got := b.collect(len(out), 20) // a train is cut by several reads
				verify(t, got, out, a.LocalAddr(), b.LocalAddr().Addr())
				n := 0
				for _, d := range got {
					if isView(d.Buf) {
						n++
					}
				}
				if n != c.want {
					t.Errorf("%d views, want %d", n, c.want)
				}
				// Decryption is in place and must not reach the neighbours.
				for i := 0; i < len(got); i += 2 {
					clear(got[i].Buf.Bytes())
					out[i].Data = make([]byte, len(out[i].Data))
				}
				verify(t, got, out, a.LocalAddr(), b.LocalAddr().Addr())
				putAll(b.cache, got)
			}
			b.cache.Flush()
			if n, _ := lendAll(b.cache); n != 1024 {
				t.Errorf("%d slabs can be lent, want 1024", n)
			}
		})
	}
}

// With too many slabs lent, trains are copied as ever; with one back, they are
// views again.
func TestTooManyLentIsCopied(t *testing.T) {
	a, b := trains(t, Config{})
	out := equal(48, 1332, b.LocalAddr())
	_, s := lendAll(b.cache)
	for _, want := range []bool{false, true, false} {
		a.sendAll(out)
		got := b.collect(len(out), 64)
		verify(t, got, out, a.LocalAddr(), b.LocalAddr().Addr())
		for _, d := range got {
			if isView(d.Buf) != want {
				t.Fatalf("view %v, want %v", !want, want)
			}
		}
		if !want {
			putAll(b.cache, got)
			b.cache.Unlend(s, 1)
			s = b.cache.Slab()
		}
	}
}

// A socket closed within a train gives its slab back, once what was delivered of
// it is released.
func TestCloseWithinTrain(t *testing.T) {
	a, b := trains(t, Config{})
	a.sendAll(equal(48, 1332, b.LocalAddr()))
	got := b.collect(7, 7)
	if !isView(got[6].Buf) {
		t.Fatal("no views")
	}
	b.Close()
	putAll(b.cache, got[:6])
	if n, _ := lendAll(b.cache); n != 1023 {
		t.Errorf("%d slabs can be lent, want 1023", n)
	}
	b.cache.Put(got[6].Buf)
	if n, _ := lendAll(b.cache); n != 1 {
		t.Error("the last view did not bring the slab back")
	}
}

// BenchmarkRead is a train's way from the kernel's buffer through the receiver,
// a wait behind so many others, and the reader's copy; the sending is not
// counted.
func BenchmarkRead(b *testing.B) {
	for _, mode := range []string{"copy", "view"} {
		for _, behind := range []struct {
			name string
			bufs int
		}{{"hot", 0}, {"32MB", 24 << 10}} {
			b.Run(mode+"/"+behind.name, func(b *testing.B) {
				snd, rcv := trains(b, Config{})
				if mode == "copy" {
					lendAll(rcv.cache)
				}
				benchmarkRead(b, snd, rcv, behind.bufs)
			})
		}
	}
}

func benchmarkRead(b *testing.B, snd, rcv *peer, behind int) {
	const lot = 48
	out := equal(lot, 1332, rcv.LocalAddr())
	in := make([]dgram.In, lot)
	ring := make([]*dgram.Buf, behind+lot)
	message := make([]byte, dgram.Size)
	var spent time.Duration
	round := func(k int) {
		if n, err := snd.WriteBatch(out); n != lot || err != nil {
			b.Fatal(n, err)
		}
		waitFD(rcv.FD(), patience)
		begin := time.Now()
		n, _, err := rcv.ReadBatch(rcv.cache, in)
		if n != lot || err != nil {
			b.Fatal(n, err)
		}
		for i, d := range in {
			at := (k*lot + i) % len(ring)
			ring[at] = d.Buf
			if old := ring[(at+lot)%len(ring)]; old != nil {
				copy(message, old.Payload())
				rcv.cache.Put(old)
				ring[(at+lot)%len(ring)] = nil
			}
		}
		spent += time.Since(begin)
	}
	k := 0
	for ; k < 2*len(ring)/lot; k++ {
		round(k)
	}
	spent = 0
	for b.Loop() {
		round(k)
		k++
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N*lot), "ns/datagram")
}
