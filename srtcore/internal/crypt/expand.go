package crypt

import (
	"encoding/binary"
	"math/bits"
)

// schedule holds the round keys of FIPS 197, section 5.2: up to 15 of 4 words.
// A word is kept with its first byte lowest, which on the little-endian
// machines that have a CTR of our own is the order of the bytes in memory.
type schedule [4 * (maxRounds + 1)]uint32

const maxRounds = 14

// expand makes the round keys of a key of 16, 24 or 32 bytes and returns the
// number of rounds. It runs once a key, not once a packet. The key steers no
// branch and no index: the S-box is an instruction (subWord).
func (w *schedule) expand(key []byte) (rounds int) {
	nk := len(key) / 4
	rounds = nk + 6
	for i := range nk {
		w[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	rcon := uint32(1)
	for i := nk; i < 4*(rounds+1); i++ {
		t := w[i-1]
		switch {
		case i%nk == 0:
			t = subWord(rotWord(t)) ^ rcon
			rcon = xtime(rcon)
		case nk == 8 && i%nk == 4:
			t = subWord(t)
		}
		w[i] = w[i-nk] ^ t
	}
	return rounds
}

// rotWord moves the first byte behind the last.
func rotWord(w uint32) uint32 { return bits.RotateLeft32(w, -8) }

// xtime multiplies by x in the field of section 4.2.
func xtime(b uint32) uint32 { return (b<<1 ^ (b>>7)*0x11B) & 0xFF }
