//go:build (amd64 || (arm64 && (linux || darwin))) && !purego

package crypt

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"testing"
)

// TestExpandVectors: FIPS 197, appendix A; the first round keys made and the
// last.
func TestExpandVectors(t *testing.T) {
	if !ownCTR {
		t.Log("no AES instructions")
		return
	}
	tests := []struct {
		section, key string
		rounds       int
		words        map[int]string
	}{
		{"A.1", "2b7e151628aed2a6abf7158809cf4f3c", 10, map[int]string{
			4: "a0fafe1788542cb123a339392a6c7605", 40: "d014f9a8c9ee2589e13f0cc8b6630ca6"}},
		{"A.2", "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", 12, map[int]string{
			6: "fe0c91f72402f5a5ec12068e6c827f6b", 48: "e98ba06f448c773c8ecc720401002202"}},
		{"A.3", "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", 14, map[int]string{
			8: "9ba354118e6925afa51a8b5f2067fcde", 12: "a8b09c1a93d194cdbe49846eb75d5b9a", 56: "fe4890d1e6188d0b046df344706c631e"}},
	}
	for _, tt := range tests {
		key, err := hex.DecodeString(tt.key)
		if err != nil {
			t.Fatal(err)
		}
		var w schedule
		if rounds := w.expand(key); rounds != tt.rounds {
			t.Errorf("%s: %d rounds", tt.section, rounds)
		}
		for i, want := range tt.words {
			var got []byte
			for _, v := range w[i : i+4] {
				got = binary.LittleEndian.AppendUint32(got, v)
			}
			if hex.EncodeToString(got) != want {
				t.Errorf("%s: w[%d:%d] = %x, want %s", tt.section, i, i+4, got, want)
			}
		}
	}
}

// TestSubWord compares each entry of the S-box in each place of a word with
// its definition (FIPS 197, section 5.1.1).
func TestSubWord(t *testing.T) {
	if !ownCTR {
		t.Log("no AES instructions")
		return
	}
	for b := range 256 {
		want := sbox(byte(b))
		for shift := 0; shift < 32; shift += 8 {
			if got := byte(subWord(uint32(b)<<shift) >> shift); got != want {
				t.Fatalf("S(%#x) = %#x in the word at %d, want %#x", b, got, shift, want)
			}
		}
	}
	if got := subWord(0x53010001); got != 0xed7c637c {
		t.Errorf("bytes of a word mix: %#x", got)
	}
}

func sbox(b byte) byte {
	inv := byte(0)
	for x := 1; x < 256; x++ {
		if product(b, byte(x)) == 1 {
			inv = byte(x)
		}
	}
	s := inv ^ 0x63
	for i := 1; i <= 4; i++ {
		s ^= bits.RotateLeft8(inv, i)
	}
	return s
}

func product(a, b byte) (p byte) {
	for ; b != 0; b >>= 1 {
		if b&1 != 0 {
			p ^= a
		}
		a = byte(xtime(uint32(a)))
	}
	return p
}
