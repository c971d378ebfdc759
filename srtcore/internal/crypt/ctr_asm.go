//go:build amd64 && !purego

package crypt

import "crypto/fips140"

// ownCTR: the processor has AES instructions and ctr_*.s uses them. A program
// in Go's FIPS 140 mode wants the validated module and gets it.
var ownCTR = cpuHasAES() && !fips140.Enabled()

// xorCTR encrypts or decrypts payload in place with AES-CTR. The block counter
// is the last 2 bytes of ctr, which must be 0, and does not carry further; ctr
// is not changed. Rounds is 10, 12 or 14.
//
//go:noescape
func xorCTR(sched *schedule, rounds int, ctr *[16]byte, payload []byte)

// subWord applies the S-box to each byte of w, by instruction and not by table:
// how long it takes and which cache lines it touches tell nothing about the
// key.
func subWord(w uint32) uint32
