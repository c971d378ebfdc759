//go:build !(amd64 || (arm64 && (linux || darwin))) || purego

package crypt

// ownCTR: only the standard library's CTR here.
const ownCTR = false

// Never called.
func xorCTR(*schedule, int, *[16]byte, uint64, []byte) { panic("crypt: no CTR of our own") }

func subWord(uint32) uint32 { panic("crypt: no S-box of our own") }
