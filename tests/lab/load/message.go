package main

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// The two message formats of ../peer: msg.h, and tsmsg.h for paths that carry
// bytes.
const (
	messageSize = 1316
	plainMagic  = 0x42545253
	tsMagic     = 0x4d535457
	tsPacket    = 188
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stamp is what a message says about itself.
type stamp struct {
	stream uint32
	seq    uint64
	sent   int64 // CLOCK_MONOTONIC ns
}

// checkPlain verifies a message of msg.h.
func checkPlain(m []byte) (stamp, bool) {
	if len(m) != messageSize || binary.LittleEndian.Uint32(m) != plainMagic ||
		binary.LittleEndian.Uint32(m[24:]) != checksum(m, 24) {
		return stamp{}, false
	}
	return stamp{binary.LittleEndian.Uint32(m[4:]), binary.LittleEndian.Uint64(m[8:]), int64(binary.LittleEndian.Uint64(m[16:]))}, true
}

// checkTS verifies a message of tsmsg.h.
func checkTS(m []byte) (stamp, bool) {
	if len(m) != messageSize || binary.LittleEndian.Uint32(m[4:]) != tsMagic ||
		binary.LittleEndian.Uint32(m[28:]) != checksum(m, 28) {
		return stamp{}, false
	}
	for i := 0; i < messageSize; i += tsPacket {
		if m[i] != 0x47 {
			return stamp{}, false
		}
	}
	return stamp{binary.LittleEndian.Uint32(m[8:]), binary.LittleEndian.Uint64(m[12:]), int64(binary.LittleEndian.Uint64(m[20:]))}, true
}

// checksum is the CRC-32C of all but the four bytes at the place it stands.
func checksum(m []byte, at int) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, m[:at]), castagnoli, m[at+4:messageSize])
}

var (
	clockBase   = time.Now()
	clockOffset = func() int64 {
		best := int64(math.MaxInt64)
		for range 20 {
			var ts unix.Timespec
			before := time.Since(clockBase)
			_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
			best = min(best, ts.Nano()-int64(before))
		}
		return best
	}()
)

// now is CLOCK_MONOTONIC in ns, which all processes share.
func now() int64 { return clockOffset + int64(time.Since(clockBase)) }

// tally is what one connection delivered.
type tally struct {
	begun           bool
	next            uint64
	msgs, gaps, dup uint64
	corrupt         uint64
}

// take counts one message.
func (t *tally) take(s stamp, ok bool) {
	switch {
	case !ok:
		t.corrupt++
		return
	case !t.begun:
		t.begun, t.next = true, s.seq
	}
	t.msgs++
	if s.seq < t.next {
		t.dup++
		return
	}
	t.gaps += s.seq - t.next
	t.next = s.seq + 1
}

// delays is a histogram of 100 us buckets up to 10 s.
type delays struct {
	bucket [100000]uint32
	n      uint64
	max    int64
}

const bucketNs = 100000

func (d *delays) add(ns int64) {
	ns = max(ns, 0)
	d.bucket[min(int(ns/bucketNs), len(d.bucket)-1)]++
	d.n++
	d.max = max(d.max, ns)
}

// quantile is the upper edge of q's bucket, ms; -1 of nothing.
func (d *delays) quantile(q float64) float64 {
	if d.n == 0 {
		return -1
	}
	want, sum := uint64(q*float64(d.n)), uint64(0)
	for i, v := range d.bucket {
		if sum += uint64(v); sum > want {
			return float64(i+1) / 10
		}
	}
	return float64(len(d.bucket)) / 10
}
