package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/weirline/weirline/srtcore/seq"
)

// maxPayload is the longest payload of an SRT packet.
const maxPayload = 1456

var keyLens = []int{16, 24, 32}

// reference is AES-CTR as the standard library does it, with the counter block
// of section 6.2.2.
func reference(t testing.TB, key []byte, salt Salt, s seq.Number, payload []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	var iv [16]byte
	copy(iv[:14], salt[:])
	for i := range 4 {
		iv[10+i] ^= byte(s >> (24 - 8*i))
	}
	out := make([]byte, len(payload))
	cipher.NewCTR(block, iv[:]).XORKeyStream(out, payload)
	return out
}

func newSEK(t testing.TB, key []byte, salt Salt) *SEK {
	t.Helper()
	k, err := NewSEK(key, salt)
	if err != nil {
		t.Fatal(err)
	}
	if ownCTR != (k.rounds != 0) {
		t.Fatalf("a CTR of our own is there: %v, rounds: %d", ownCTR, k.rounds)
	}
	return k
}

// withoutOwn is the same key as on a processor without AES instructions.
func withoutOwn(k *SEK) *SEK {
	std := *k
	std.rounds = 0
	return &std
}

type dice struct{ *rand.Rand }

func newDice() dice { return dice{rand.New(rand.NewPCG(197, 38))} }

func (d dice) fill(b []byte) []byte {
	for i := range b {
		b[i] = byte(d.Uint32())
	}
	return b
}

func (d dice) salt() (s Salt) {
	d.fill(s[:])
	return s
}

func (d dice) seq() seq.Number { return seq.Number(d.Uint32() >> 1) }

// TestExpandVectors: FIPS 197, appendix A; the first round keys made and the
// last.
func TestExpandVectors(t *testing.T) {
	if !ownCTR {
		t.Log("the standard library expands the keys here")
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
		t.Log("the standard library has the S-box here")
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

// TestXOREveryLength runs every length at every alignment, and looks at the
// bytes before and behind.
func TestXOREveryLength(t *testing.T) {
	const guard = 32
	d := newDice()
	buf, was := make([]byte, guard+16+maxPayload+guard), make([]byte, guard+16+maxPayload+guard)
	for _, keyLen := range keyLens {
		key, salt := d.fill(make([]byte, keyLen)), d.salt()
		own := newSEK(t, key, salt)
		std := withoutOwn(own)
		for n := range maxPayload + 1 {
			d.fill(was[:64])
			copy(was[64:], was)
			s, from := d.seq(), guard+n%16
			want := reference(t, key, salt, s, was[from:from+n])
			for _, k := range []*SEK{own, std} {
				copy(buf, was)
				k.XOR(buf[from:from+n], s)
				if !bytes.Equal(buf[from:from+n], want) {
					t.Fatalf("%d-byte key, %d bytes at %d, rounds %d: differs from crypto/cipher", keyLen, n, from, k.rounds)
				}
				if !bytes.Equal(buf[:from], was[:from]) || !bytes.Equal(buf[from+n:], was[from+n:]) {
					t.Fatalf("%d-byte key, %d bytes at %d, rounds %d: bytes around changed", keyLen, n, from, k.rounds)
				}
			}
		}
	}
}

// TestXORAlignments: the lengths where the pieces of a payload change, at each
// of 16 alignments.
func TestXORAlignments(t *testing.T) {
	d := newDice()
	buf := make([]byte, 16+maxPayload)
	for _, keyLen := range keyLens {
		key, salt := d.fill(make([]byte, keyLen)), d.salt()
		k := newSEK(t, key, salt)
		for _, n := range []int{1, 7, 15, 16, 17, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 1316, 1456} {
			for from := range 16 {
				s := d.seq()
				d.fill(buf)
				want := reference(t, key, salt, s, buf[from:from+n])
				if k.XOR(buf[from:from+n], s); !bytes.Equal(buf[from:from+n], want) {
					t.Errorf("%d-byte key, %d bytes at %d differ from crypto/cipher", keyLen, n, from)
				}
			}
		}
	}
}

// TestXORRandom: keys, salts and sequence numbers, the extreme ones too.
func TestXORRandom(t *testing.T) {
	d := newDice()
	sequences := []seq.Number{0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF}
	for i := range 2000 {
		key, salt := d.fill(make([]byte, keyLens[i%3])), d.salt()
		s := d.seq()
		if i < len(sequences) {
			s = sequences[i]
		}
		payload := d.fill(make([]byte, d.IntN(maxPayload+1)))
		want := reference(t, key, salt, s, payload)
		if newSEK(t, key, salt).XOR(payload, s); !bytes.Equal(payload, want) {
			t.Fatalf("key %x, salt %x, packet %d, %d bytes: differs from crypto/cipher", key, salt, s, len(payload))
		}
	}
}

// TestXORCounterEnd: no packet is that long, but the counter is right to its
// last value, and behind it the standard library takes over.
func TestXORCounterEnd(t *testing.T) {
	d := newDice()
	key, salt := d.fill(make([]byte, 16)), d.salt()
	k := newSEK(t, key, salt)
	for _, n := range []int{maxOwnCTR - 1, maxOwnCTR, maxOwnCTR + 1} {
		payload := make([]byte, n)
		want := reference(t, key, salt, 5, payload)
		if k.XOR(payload, 5); !bytes.Equal(payload, want) {
			t.Errorf("%d bytes differ from crypto/cipher", n)
		}
	}
}

// TestXORAllocations: none; without a CTR of our own, the standard library's
// stream.
func TestXORAllocations(t *testing.T) {
	own := newSEK(t, make([]byte, 16), Salt{})
	payload := make([]byte, 1316)
	for _, k := range []*SEK{own, withoutOwn(own)} {
		limit := 1.0
		if k.rounds != 0 {
			limit = 0
		}
		if n := testing.AllocsPerRun(100, func() { k.XOR(payload, 1) }); n > limit {
			t.Errorf("rounds %d: %v allocations a packet", k.rounds, n)
		}
	}
}

func BenchmarkXOR(b *testing.B) {
	names := map[int]string{16: "AES-128", 24: "AES-192", 32: "AES-256"}
	for _, keyLen := range keyLens {
		own := newSEK(b, make([]byte, keyLen), Salt{})
		b.Run(names[keyLen], func(b *testing.B) { benchmarkXOR(b, own) })
		b.Run(names[keyLen]+"-std", func(b *testing.B) { benchmarkXOR(b, withoutOwn(own)) })
	}
}

func benchmarkXOR(b *testing.B, k *SEK) {
	payload := make([]byte, 1316)
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	s := seq.Number(0)
	for b.Loop() {
		k.XOR(payload, s)
		s = s.Next()
	}
}

func BenchmarkNewSEK(b *testing.B) {
	key := make([]byte, 32)
	for b.Loop() {
		newSEK(b, key, Salt{})
	}
}

func FuzzXOR(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), []byte("salt"), uint32(1), make([]byte, 1316), uint8(0))
	f.Add(make([]byte, 32), []byte{}, uint32(0x7FFFFFFF), []byte("short"), uint8(3))
	f.Add(make([]byte, 24), []byte{}, uint32(0), make([]byte, 200), uint8(15))
	f.Fuzz(func(t *testing.T, keyBytes, saltBytes []byte, number uint32, plain []byte, align uint8) {
		key := make([]byte, keyLens[len(keyBytes)%3])
		copy(key, keyBytes)
		var salt Salt
		copy(salt[:], saltBytes)
		s, from := seq.Number(number>>1), int(align%16)
		k := newSEK(t, key, salt)
		payload := append(make([]byte, from), plain...)[from:]
		k.XOR(payload, s)
		if !bytes.Equal(payload, reference(t, key, salt, s, plain)) {
			t.Fatalf("%d-byte key, %d bytes at %d: differs from crypto/cipher", len(key), len(plain), from)
		}
	})
}
