package soak

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

const messageSize = 1316

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// noise is what message bodies are cut from, a different piece each.
var noise = func() []byte {
	b := make([]byte, 64<<10+messageSize)
	_, _ = rand.NewChaCha8([32]byte{'s', 'o', 'a', 'k'}).Read(b)
	return b
}()

// build writes message n: its number, a body that depends on it, and a sum over
// both.
func build(b []byte, n uint64) {
	binary.BigEndian.PutUint64(b, n)
	copy(b[12:], noise[body(n):])
	binary.BigEndian.PutUint32(b[8:], sum(b))
}

func body(n uint64) int { return int(n * 40503 & 0xFFFF) }

func sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:8], castagnoli), castagnoli, b[12:])
}

// check says what is wrong with what should be message n.
func check(b []byte, n uint64) error {
	if len(b) != messageSize {
		return fmt.Errorf("message %d has %d bytes, want %d", n, len(b), messageSize)
	}
	if got := binary.BigEndian.Uint64(b); got != n {
		return fmt.Errorf("got message %d, want %d", got, n)
	}
	if sum(b) != binary.BigEndian.Uint32(b[8:]) {
		return fmt.Errorf("message %d was altered", n)
	}
	return nil
}
