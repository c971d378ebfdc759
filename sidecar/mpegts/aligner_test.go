package mpegts

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"
)

// packets makes n transport stream packets with distinct bodies that contain
// sync bytes in odd places.
func packets(n int) []byte {
	r := rand.New(rand.NewSource(int64(n)))
	b := make([]byte, n*PacketSize)
	r.Read(b)
	for i := range n {
		b[i*PacketSize] = syncByte
		b[i*PacketSize+7] = syncByte
	}
	return b
}

// noise has no sync byte at all.
func noise(n int) []byte { return bytes.Repeat([]byte{0xAA}, n) }

// run feeds the chunks and returns the lengths of the messages and all bytes.
func run(a *Aligner, hold bool, chunks ...[]byte) (lens []int, all []byte) {
	add := func(m []byte) { lens = append(lens, len(m)); all = append(all, m...) }
	for _, c := range chunks {
		for len(c) > 0 {
			n := copy(a.Space(), c)
			a.Commit(n)
			c = c[n:]
			for m := a.Next(); m != nil; m = a.Next() {
				add(m)
			}
		}
		if hold {
			for m := a.Hold(); m != nil; m = a.Hold() {
				add(m)
			}
		}
	}
	for m := a.Drain(); m != nil; m = a.Drain() {
		add(m)
	}
	return lens, all
}

func TestCutPoints(t *testing.T) {
	ts := packets(14)
	for _, c := range []struct {
		name   string
		size   int
		hold   bool
		chunks [][]byte
		want   []int
	}{
		{"nothing", 1316, false, nil, nil},
		{"two messages", 1316, false, [][]byte{ts}, []int{1316, 1316}},
		{"cut anywhere", 1316, false, [][]byte{ts[:1], ts[1:187], ts[187:1500], ts[1500:]}, []int{1316, 1316}},
		{"tail at the end", 1316, false, [][]byte{ts[:9*188]}, []int{1316, 376}},
		{"cut packet at the end", 1316, false, [][]byte{ts[:8*188+50]}, []int{1316, 188, 50}},
		{"payload size 1456 holds seven", 1456, false, [][]byte{ts}, []int{1316, 1316}},
		{"payload size 400 holds two", 400, false, [][]byte{ts[:4*188]}, []int{376, 376}},
		{"payload size below a packet", 100, false, [][]byte{ts[:188]}, []int{100, 88}},
		{"hold sends whole packets and keeps the cut one", 1316, true,
			[][]byte{ts[:2*188+60], ts[2*188+60:]}, []int{376, 1316, 940}},
		{"one packet, held", 1316, true, [][]byte{ts[:188]}, []int{188}},
		{"noise before sync is kept", 1316, false, [][]byte{noise(10), ts}, []int{10, 1316, 1316}},
		{"noise within", 1316, false, [][]byte{ts[:7*188], noise(30), ts[7*188:]}, []int{1316, 30, 1316}},
		{"other data by size", 1316, false, [][]byte{noise(3000)}, []int{1316, 1316, 368}},
		{"other data, held", 1316, true, [][]byte{noise(5), noise(6)}, []int{5, 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lens, all := run(NewAligner(c.size), c.hold, c.chunks...)
			if !slices.Equal(lens, c.want) {
				t.Errorf("message lengths %v, want %v", lens, c.want)
			}
			if !bytes.Equal(all, bytes.Join(c.chunks, nil)) {
				t.Error("bytes were lost or altered")
			}
		})
	}
}

func TestHoldWaitsOnceForAPossiblePacket(t *testing.T) {
	a := NewAligner(1316)
	a.Commit(copy(a.Space(), "GET"))
	if m := a.Hold(); m != nil {
		t.Fatalf("first Hold gave %q at once", m)
	}
	if m := a.Hold(); string(m) != "GET" {
		t.Fatalf("second Hold gave %q, want GET", m)
	}
}

func TestSpaceIsNeverEmpty(t *testing.T) {
	a := NewAligner(1316)
	for range 100 {
		s := a.Space()
		if len(s) == 0 {
			t.Fatal("no room left")
		}
		a.Commit(len(s))
		for a.Next() != nil {
		}
	}
}

func FuzzAligner(f *testing.F) {
	f.Add(packets(9), uint16(100), uint16(1316), true)
	f.Add([]byte("GET / HTTP/1.1\r\n"), uint16(3), uint16(7), true)
	f.Add(append(noise(500), packets(4)...), uint16(188), uint16(188), false)
	f.Fuzz(func(t *testing.T, in []byte, chunk, size uint16, hold bool) {
		a := NewAligner(int(size))
		limit := int(size)
		if limit == 0 {
			limit = DefaultMessageSize
		}
		lens, all := run(a, hold, slices.Collect(slices.Chunk(in, int(chunk)+1))...)
		if !bytes.Equal(all, in) {
			t.Fatal("bytes were lost or altered")
		}
		for _, n := range lens {
			if n <= 0 || n > limit {
				t.Fatalf("message of %d bytes, limit %d", n, limit)
			}
		}
	})
}

func TestAlignerDoesNotAllocate(t *testing.T) {
	a, ts := NewAligner(1316), packets(20)
	n := testing.AllocsPerRun(100, func() {
		a.Commit(copy(a.Space(), ts))
		for a.Next() != nil {
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
