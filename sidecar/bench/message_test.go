package bench

import (
	"encoding/hex"
	"hash/crc32"
	"testing"
)

func TestPoolIsSplitmix64(t *testing.T) {
	// First output of splitmix64 for the seed 0x5eed, low byte first.
	s := uint64(0x5eed) + 0x9e3779b97f4a7c15
	s = (s ^ s>>30) * 0xbf58476d1ce4e5b9
	s = (s ^ s>>27) * 0x94d049bb133111eb
	s ^= s >> 31
	for i := range 8 {
		if pool[i] != byte(s>>(8*i)) {
			t.Fatalf("pool begins %s", hex.EncodeToString(pool[:8]))
		}
	}
}

func TestBuildAndCheck(t *testing.T) {
	m := make([]byte, messageSize)
	for _, seq := range []uint64{0, 1, 1 << 33} {
		build(m, 7, seq, 32, 1234567890123)
		s, err := check(m, true)
		if err != nil || s != (stamp{7, seq, 1234567890123}) {
			t.Fatalf("got %+v, %v", s, err)
		}
	}
	for _, i := range []int{0, 5, 10, 20, 25, 30, 40, messageSize - 1} {
		m[i] ^= 1
		if _, err := check(m, false); err == nil {
			t.Errorf("a flipped bit at %d was not seen", i)
		}
		m[i] ^= 1
	}
	if _, err := check(m[:messageSize-1], false); err == nil {
		t.Error("a short message was not seen")
	}
}

func TestDeepCheckSeesAForeignBody(t *testing.T) {
	m := make([]byte, messageSize)
	build(m, 1, 2, 3, 4)
	m[100] ^= 1
	c := messageCRC(m)
	m[24], m[25], m[26], m[27] = byte(c), byte(c>>8), byte(c>>16), byte(c>>24)
	if _, err := check(m, false); err != nil {
		t.Error("the plain check goes by the checksum alone")
	}
	if _, err := check(m, true); err == nil {
		t.Error("the deep check did not see a foreign body")
	}
}

func TestChecksumIsCRC32C(t *testing.T) {
	// The check value of CRC-32C.
	if c := crc32.Checksum([]byte("123456789"), castagnoli); c != 0xe3069283 {
		t.Errorf("got %#x", c)
	}
}

func TestLatencies(t *testing.T) {
	var l latencies
	if q := l.quantile(.5); q != -1 {
		t.Errorf("of nothing: %v", q)
	}
	for _, ns := range []int64{-5, 0, 99999, 100000, 250000, 20e9} {
		l.add(ns)
	}
	if q := l.quantile(.4); q != 0.1 {
		t.Errorf("0.4: %v, want 0.1", q)
	}
	if q := l.quantile(.7); int(q*10+.5) != 3 {
		t.Errorf("0.7: %v, want 0.3", q)
	}
	if l.max != 20e9 || l.n != 6 {
		t.Errorf("max %d, n %d", l.max, l.n)
	}
}

func TestClockIsSharedAndSteady(t *testing.T) {
	a := now()
	if b := now(); b < a {
		t.Errorf("clock went back: %d, %d", a, b)
	}
	if a <= 0 {
		t.Errorf("clock reads %d", a)
	}
}

func TestDue(t *testing.T) {
	s := &sender{opt: DefaultOptions()}
	s.opt.Streams, s.opt.Secs, s.opt.Mbps = 2, 1, 10.528 // 1000 messages a second
	for _, c := range []struct {
		i       int
		elapsed float64
		done    bool
		want    uint64
	}{{0, 0, false, 0}, {1, 0.0006, false, 1}, {0, 0.5, false, 500}, {0, 2, false, 1000}, {1, 0.1, true, 1000}} {
		if got := s.due(c.i, c.elapsed, c.done); got != c.want {
			t.Errorf("stream %d at %v: %d, want %d", c.i, c.elapsed, got, c.want)
		}
	}
}

func TestBuildAndCheckDoNotAllocate(t *testing.T) {
	m := make([]byte, messageSize)
	if n := testing.AllocsPerRun(100, func() { build(m, 1, 2, 3, now()); check(m, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkBuild(b *testing.B) {
	m := make([]byte, messageSize)
	for i := range b.N {
		build(m, 1, uint64(i), 32, now())
	}
}

func BenchmarkCheck(b *testing.B) {
	m := make([]byte, messageSize)
	build(m, 1, 2, 3, 4)
	for range b.N {
		check(m, false)
	}
}
