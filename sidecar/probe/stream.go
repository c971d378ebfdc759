package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// The test stream is made of MPEG-TS null packets, which every receiver throws
// away. Messages have different sizes in turn, so that a link which swallows
// large packets shows.
const (
	tsSize            = 188
	packetsPerMessage = 7

	nullHeader = 0x471FFF10 // sync byte, PID 0x1FFF, payload only
	magic      = 0x574C5042 // "WLPB", behind the first header
	filler     = 0xFF

	// where in a message: header 4, magic 4, index 4, number of sizes 2, sizes.
	offMagic, offIndex, offSizes = 4, 8, 12
)

var be = binary.BigEndian

// stream makes messages: the sizes follow one another again and again.
type stream struct {
	sizes []int
	next  uint32
	msgs  [][]byte // one of each size
	sent  int64    // bytes
}

// sizesUpTo returns the sizes of a stream: most messages are of the largest, as
// in a real one.
func sizesUpTo(largest int) []int {
	var out []int
	for _, n := range []int{largest, tsSize, largest, 4 * tsSize, largest, 6 * tsSize, largest, packetsPerMessage * tsSize} {
		out = append(out, min(n, largest))
	}
	return out
}

func newStream(largest int) *stream {
	s := &stream{sizes: sizesUpTo(largest)}
	for _, n := range s.sizes {
		m := make([]byte, n)
		for at := range m {
			m[at] = filler
		}
		for at := 0; at+4 <= n; at += tsSize {
			be.PutUint32(m[at:], nullHeader)
		}
		be.PutUint32(m[offMagic:], magic)
		be.PutUint16(m[offSizes:], uint16(len(s.sizes)))
		for i, size := range s.sizes {
			be.PutUint16(m[offSizes+2+2*i:], uint16(size))
		}
		s.msgs = append(s.msgs, m)
	}
	return s
}

// message returns the next message, valid until the same size comes again.
func (s *stream) message() []byte {
	m := s.msgs[int(s.next)%len(s.msgs)]
	be.PutUint32(m[offIndex:], s.next)
	s.next++
	return m
}

// sendTick is how often what is due is written.
const sendTick = time.Millisecond

// mostBehind bounds how far the stream catches up after a moment in which this
// process did not run. What is further behind is left out: sent all at once, it
// would fill a queue on the way, and the probe would measure that.
const mostBehind = 10 * time.Millisecond

// send writes the stream at rate bits/s for d.
func (s *stream) send(ctx context.Context, c *srtcore.Conn, rate int64, d time.Duration) error {
	tick := time.NewTicker(sendTick)
	defer tick.Stop()
	last := time.Now()
	end := last.Add(d)
	c.SetWriteDeadline(end)
	due := 0. // bytes
	for now := last; now.Before(end); now = time.Now() {
		due += min(now.Sub(last), mostBehind).Seconds() * float64(rate) / 8
		for last = now; due > 0; {
			n, err := c.Write(s.message())
			if err != nil {
				s.next--
				return err
			}
			due -= float64(n)
			s.sent += int64(n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Done():
			return errors.Join(errors.New("the connection ended"), c.Err())
		case <-tick.C:
		}
	}
	return nil
}

// SizeClass is how messages of one size fared.
type SizeClass struct {
	Bytes int `json:"bytes"`
	Sent  int `json:"sent"`
	Lost  int `json:"lost"` // sender: at the first sending; receiver: for good
}

// tally recognises the test stream among what is received.
type tally struct {
	sizes   []int
	arrived map[int]int // by size
	first   uint32
	last    uint32
	seen    int
	damaged int
}

// take notes one message; those of another stream are nobody's business.
func (y *tally) take(m []byte) {
	if len(m) < tsSize || be.Uint32(m) != nullHeader || be.Uint32(m[offMagic:]) != magic {
		return
	}
	i := be.Uint32(m[offIndex:])
	if y.seen == 0 {
		y.first, y.arrived, y.sizes = i, map[int]int{}, y.sizes[:0]
		for k := range min(int(be.Uint16(m[offSizes:])), (tsSize-offSizes-2)/2) {
			y.sizes = append(y.sizes, int(be.Uint16(m[offSizes+2+2*k:])))
		}
	}
	if len(y.sizes) == 0 || y.seen > 0 && i <= y.last || len(m) != y.sizes[int(i)%len(y.sizes)] || !y.intact(m) {
		y.damaged++
		return
	}
	y.seen++
	y.last = i
	y.arrived[len(m)]++
}

// intact compares all that is always the same.
func (y *tally) intact(m []byte) bool {
	head := offSizes + 2 + 2*len(y.sizes)
	for at := head; at < len(m); at++ {
		if at%tsSize == 0 && at+4 <= len(m) {
			if be.Uint32(m[at:]) != nullHeader {
				return false
			}
			at += 3
			continue
		}
		if m[at] != filler {
			return false
		}
	}
	return true
}

// sizeClasses holds what arrived against what was sent between the first and the
// last that did.
func (y *tally) sizeClasses() []SizeClass {
	if y.seen == 0 {
		return nil
	}
	sent := map[int]int{}
	n := int(y.last-y.first) + 1
	for k, size := range y.sizes {
		// Indices i with i % len == k from first to last.
		sent[size] += countCongruent(int(y.first), n, k, len(y.sizes))
	}
	return classes(sent, func(size int) int { return sent[size] - y.arrived[size] })
}

// countCongruent counts the i of n numbers from first on with i % m == k.
func countCongruent(first, n, k, m int) int {
	upTo := func(end int) int { return (end - k + m - 1) / m } // of 0..end-1, k < m
	return upTo(first+n) - upTo(first)
}
