// Package bench is the load tool: it sends numbered, checksummed messages over
// many connections at a set rate, and receives and checks them. Its message
// format, options and JSON are those of the project's other benchmark peers,
// so that any two can be paired.
//
// Lives here: Send, Recv, Run, Self and what they count.
// May import: srtcore, x/sys. Never: endpoint, hub, route - it measures the
// library, not the sidecar.
package bench

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// The message, little endian:
//
//	 0 u32 magic      4 u32 stream     8 u64 sequence number in the stream
//	16 u64 CLOCK_MONOTONIC ns when it was built
//	24 u32 CRC-32C of bytes 0-24 and 28-1316
//	28 u32 number of streams
//	32 pool[offset:], the offset following from stream and sequence number
const (
	messageSize   = 1316
	messageHeader = 32
	messageMagic  = 0x42545253

	poolMask = 0xfff8
	poolSize = 65536 + 2048
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	pool       = makePool()

	errCorrupt = errors.New("bench: corrupt message")
)

// makePool fills the pool with splitmix64 from a fixed seed.
func makePool() []byte {
	b := make([]byte, poolSize)
	s := uint64(0x5eed)
	for i := 0; i < poolSize; i += 8 {
		s += 0x9e3779b97f4a7c15
		z := s
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(b[i:], z^z>>31)
	}
	return b
}

func poolOffset(stream uint32, seq uint64) int {
	return int((stream*40503 + uint32(seq)*2654435761) >> 8 & poolMask)
}

func messageCRC(m []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, m[:24]), castagnoli, m[28:messageSize])
}

// build writes a message into m, which is messageSize long.
func build(m []byte, stream uint32, seq uint64, streams uint32, now int64) {
	binary.LittleEndian.PutUint32(m, messageMagic)
	binary.LittleEndian.PutUint32(m[4:], stream)
	binary.LittleEndian.PutUint64(m[8:], seq)
	binary.LittleEndian.PutUint64(m[16:], uint64(now))
	binary.LittleEndian.PutUint32(m[28:], streams)
	copy(m[messageHeader:messageSize], pool[poolOffset(stream, seq):])
	binary.LittleEndian.PutUint32(m[24:], messageCRC(m))
}

// stamp is what a message says about itself.
type stamp struct {
	stream uint32
	seq    uint64
	sent   int64 // CLOCK_MONOTONIC ns
}

// check verifies a message; deep compares the body byte by byte as well.
func check(m []byte, deep bool) (stamp, error) {
	if len(m) != messageSize || binary.LittleEndian.Uint32(m) != messageMagic ||
		binary.LittleEndian.Uint32(m[24:]) != messageCRC(m) {
		return stamp{}, errCorrupt
	}
	s := stamp{
		stream: binary.LittleEndian.Uint32(m[4:]),
		seq:    binary.LittleEndian.Uint64(m[8:]),
		sent:   int64(binary.LittleEndian.Uint64(m[16:])),
	}
	if deep && string(m[messageHeader:]) != string(pool[poolOffset(s.stream, s.seq):][:messageSize-messageHeader]) {
		return stamp{}, errCorrupt
	}
	return s, nil
}
