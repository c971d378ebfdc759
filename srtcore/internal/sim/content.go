package sim

import (
	"bytes"
	"encoding/binary"
	"time"
)

// minPayload is the index and a little filler.
const minPayload = 8

// Payload returns message number index, n bytes long: the index, then filler
// that follows from it, so that an altered byte shows.
func Payload(index uint32, n int) []byte {
	b := make([]byte, max(n, minPayload))
	binary.BigEndian.PutUint32(b, index)
	x := uint64(index)*0x9E3779B97F4A7C15 + 1
	for i := 4; i < len(b); i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// Index returns the number of a payload; ok is false if it was altered.
func Index(b []byte) (index uint32, ok bool) {
	if len(b) < minPayload {
		return 0, false
	}
	index = binary.BigEndian.Uint32(b)
	return index, bytes.Equal(b, Payload(index, len(b)))
}

// SendNext hands in the next numbered payload.
func (s *Session) SendNext(size int) bool {
	now := s.Host.World.Now
	index := uint32(len(s.Sent))
	if !s.Send(Payload(index, size)) {
		return false
	}
	s.Sent = append(s.Sent, Sent{index, max(size, minPayload), now})
	return true
}

// Stream hands in n numbered payloads, the first at first from now.
func (s *Session) Stream(first, interval time.Duration, n, size int) {
	s.Host.World.Every(first, interval, n, func(int) { s.SendNext(size) })
}

// Indexes returns the numbers of the received messages; a foreign or altered
// one fails the test.
func (s *Session) Indexes() []uint32 {
	tb := s.Host.World.TB
	tb.Helper()
	out := make([]uint32, 0, len(s.Received))
	for i, r := range s.Received {
		index, ok := Index(r.Data)
		if !ok {
			tb.Errorf("message %d (seq %d, %d bytes) is altered", i, r.Seq, len(r.Data))
		}
		out = append(out, index)
	}
	return out
}
