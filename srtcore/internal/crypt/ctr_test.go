package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
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
