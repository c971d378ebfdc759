package main

import (
	"encoding/binary"
	"net"
	"testing"
)

func plain(stream uint32, seq uint64) []byte {
	m := make([]byte, messageSize)
	binary.LittleEndian.PutUint32(m, plainMagic)
	binary.LittleEndian.PutUint32(m[4:], stream)
	binary.LittleEndian.PutUint64(m[8:], seq)
	binary.LittleEndian.PutUint32(m[24:], checksum(m, 24))
	return m
}

func transport(stream uint32, seq uint64) []byte {
	m := make([]byte, messageSize)
	for i := 0; i < messageSize; i += tsPacket {
		m[i] = 0x47
	}
	binary.LittleEndian.PutUint32(m[4:], tsMagic)
	binary.LittleEndian.PutUint32(m[8:], stream)
	binary.LittleEndian.PutUint64(m[12:], seq)
	binary.LittleEndian.PutUint32(m[28:], checksum(m, 28))
	return m
}

func TestMessagesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		m     []byte
		check func([]byte) (stamp, bool)
	}{"plain": {plain(3, 1<<33), checkPlain}, "ts": {transport(3, 1<<33), checkTS}} {
		if s, ok := c.check(c.m); !ok || s.stream != 3 || s.seq != 1<<33 {
			t.Errorf("%s: %+v, %v", name, s, ok)
		}
		for _, i := range []int{0, 5, 13, 29, 188, 700, messageSize - 1} {
			c.m[i] ^= 4
			if _, ok := c.check(c.m); ok {
				t.Errorf("%s: a flipped bit at %d passes", name, i)
			}
			c.m[i] ^= 4
		}
		if _, ok := c.check(c.m[1:]); ok {
			t.Errorf("%s: a short message passes", name)
		}
	}
}

func TestTallyCounts(t *testing.T) {
	var y tally
	for _, seq := range []uint64{7, 8, 11, 10, 12} {
		y.take(stamp{seq: seq}, true)
	}
	y.take(stamp{}, false)
	if y.msgs != 5 || y.gaps != 2 || y.dup != 1 || y.corrupt != 1 || y.next != 13 {
		t.Errorf("%+v", y)
	}
}

func TestTransportStreamsMayComeInPieces(t *testing.T) {
	r := newReader(true)
	r.tally[nil] = &tally{}
	all := append(transport(0, 0), transport(0, 1)...)
	for _, piece := range [][]byte{all[:188], all[188:1400], all[1400:]} {
		r.take(nil, piece, now())
	}
	if y := r.tally[nil]; y.msgs != 2 || y.gaps != 0 || y.corrupt != 0 {
		t.Errorf("%+v", y)
	}
}

func TestEveryPlayerHasAnAddress(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range []int{0, 1, 255, 256, 65535, 65536, 1 << 20} {
		host, _, err := net.SplitHostPort(ownSocket(29001)(i))
		if err != nil || !net.ParseIP(host).IsLoopback() || seen[host] {
			t.Errorf("player %d: %q, %v", i, host, err)
		}
		seen[host] = true
	}
}

func TestDelays(t *testing.T) {
	var d delays
	if d.quantile(.5) != -1 {
		t.Error("of nothing")
	}
	for _, ns := range []int64{-1, 150000, 250000, 20e9} {
		d.add(ns)
	}
	if q := d.quantile(.5); q != .3 {
		t.Errorf("median %v, want 0.3", q)
	}
}
