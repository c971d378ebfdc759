package golden

import (
	"crypto/sha256"
	"encoding/binary"
)

// Message returns message k of n bytes as the peers of the captures generated
// it: the first n bytes of the blocks
//
//	SHA-256("srt-golden" 0 tag 0 k j)   j = 0, 1, 2 ...; k and j 4 bytes, big-endian
//
// The tag is the direction; of a second connection, "c2l.1".
func Message(tag string, k, n int) []byte {
	seed := append([]byte("srt-golden\x00"+tag), 0)
	seed = binary.BigEndian.AppendUint32(seed, uint32(k))
	var out []byte
	for j := uint32(0); len(out) < n; j++ {
		block := sha256.Sum256(binary.BigEndian.AppendUint32(seed, j))
		out = append(out, block[:]...)
	}
	return out[:n:n]
}
