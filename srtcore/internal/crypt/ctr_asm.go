//go:build (amd64 || (arm64 && (linux || darwin))) && !purego

package crypt

import "crypto/fips140"

// ownCTR: the processor has AES instructions and ctr_*.s uses them. A program
// in Go's FIPS 140 mode wants the validated module and gets it.
var ownCTR = cpuHasAES() && !fips140.Enabled()

// xorCTR encrypts or decrypts payload in place with AES-CTR. The first counter
// block is iv with packet XORed into its second half, the first byte lowest. The
// block counter is the last 2 bytes, which must be 0, and does not carry
// further. Rounds is 10, 12 or 14.
//
//go:noescape
func xorCTR(sched *schedule, rounds int, iv *[16]byte, packet uint64, payload []byte)

// subWord applies the S-box to each byte of w, by instruction and not by table:
// how long it takes and which cache lines it touches tell nothing about the
// key.
func subWord(w uint32) uint32
