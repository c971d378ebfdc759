package crypt_test

import (
	"bytes"
	"crypto/aes"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/seq"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestWrapVectors: RFC 3394, sections 4.1 to 4.6.
func TestWrapVectors(t *testing.T) {
	const kek = "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"
	const keys = "00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F"
	tests := []struct {
		section       string
		kekLen, kdLen int
		want          string
	}{
		{"4.1", 16, 16, "1FA68B0A8112B447 AEF34BD8FB5A7B82 9D3E862371D2CFE5"},
		{"4.2", 24, 16, "96778B25AE6CA435 F92B5B97C050AED2 468AB8A17AD84E5D"},
		{"4.3", 32, 16, "64E8C3F9CE0F5BA2 63E9777905818A2A 93C8191E7D6E8AE7"},
		{"4.4", 24, 24, "031D33264E15D332 68F24EC260743EDC E1C6C7DDEE725A93 6BA814915C6762D2"},
		{"4.5", 32, 24, "A8F9BC1612C68B3F F6E6F4FBE30E71E4 769C8B80A32CB895 8CD5D17D6B254DA1"},
		{"4.6", 32, 32, "28C9F404C4B810F4 CBCCB35CFB87F826 3F5786E2D80ED326 CBC7F0E71A99F43B FB988B9B7A02DD21"},
	}
	for _, tt := range tests {
		t.Run(tt.section, func(t *testing.T) {
			kek, keys, want := unhex(t, kek)[:tt.kekLen], unhex(t, keys)[:tt.kdLen], unhex(t, tt.want)
			got, err := crypt.WrapKeys(kek, keys)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("WrapKeys = %X, %v", got, err)
			}
			back, err := crypt.UnwrapKeys(kek, want)
			if err != nil || !bytes.Equal(back, keys) {
				t.Errorf("UnwrapKeys = %X, %v", back, err)
			}
		})
	}
}

func TestUnwrapErrors(t *testing.T) {
	kek := make([]byte, 16)
	wrapped, err := crypt.WrapKeys(kek, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for i := range wrapped {
		bad := bytes.Clone(wrapped)
		bad[i] ^= 1
		if _, err := crypt.UnwrapKeys(kek, bad); !errors.Is(err, crypt.ErrBadSecret) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	other := bytes.Repeat([]byte{1}, 16)
	if _, err := crypt.UnwrapKeys(other, wrapped); !errors.Is(err, crypt.ErrBadSecret) {
		t.Errorf("another KEK: %v", err)
	}
	for _, n := range []int{0, 7, 8, 16, 23, 39} {
		if _, err := crypt.UnwrapKeys(kek, wrapped[:n]); err == nil || errors.Is(err, crypt.ErrBadSecret) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, n := range []int{0, 8, 15} {
		if _, err := crypt.WrapKeys(kek, make([]byte, n)); err == nil {
			t.Errorf("%d bytes of keys wrapped", n)
		}
	}
	if _, err := crypt.WrapKeys(kek[:5], make([]byte, 16)); err == nil {
		t.Error("KEK of 5 bytes accepted for wrapping")
	}
	if _, err := crypt.UnwrapKeys(kek[:5], wrapped); err == nil {
		t.Error("KEK of 5 bytes accepted for unwrapping")
	}
}

// TestDeriveKEK: values of another PBKDF2 implementation over the last 8 bytes
// of the salt.
func TestDeriveKEK(t *testing.T) {
	const want = "a354796bb0a6b266275537b94b8de144c4dfc4eeb8945919ca593be1947c05f6"
	var salt crypt.Salt
	for i := range salt {
		salt[i] = byte(0xA0 + i)
	}
	for _, n := range []int{16, 24, 32} {
		if got := hex.EncodeToString(crypt.DeriveKEK("golden passphrase 1", salt, n)); got != want[:2*n] {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
	salt[0], salt[7] = 1, 1
	if got := hex.EncodeToString(crypt.DeriveKEK("golden passphrase 1", salt, 32)); got != want {
		t.Errorf("the first half of the salt counts: %s", got)
	}
}

// TestXORCounter builds the key stream block by block, as the draft describes
// it (section 6.2.2), and compares.
func TestXORCounter(t *testing.T) {
	salt := crypt.Salt(unhex(t, "000102030405060708090a0b0c0d0e0f"))
	for _, keyLen := range []int{16, 24, 32} {
		key := bytes.Repeat([]byte{0x42}, keyLen)
		k, err := crypt.NewSEK(key, salt)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 15, 16, 17, 188, 1316, 1456} {
			payload := make([]byte, n)
			k.XOR(payload, 0x12345678)
			if want := keyStream(t, key, salt, 0x12345678, n); !bytes.Equal(payload, want) {
				t.Errorf("%d-byte key, %d bytes: %x, want %x", keyLen, n, payload, want)
			}
			k.XOR(payload, 0x12345678)
			if !bytes.Equal(payload, make([]byte, n)) {
				t.Errorf("%d-byte key, %d bytes: twice is not once less", keyLen, n)
			}
		}
	}
}

func keyStream(t *testing.T, key []byte, salt crypt.Salt, s seq.Number, n int) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i := 0; len(out) < n; i++ {
		ctr := [16]byte{10: byte(s >> 24), 11: byte(s >> 16), 12: byte(s >> 8), 13: byte(s)}
		for j := range 14 {
			ctr[j] ^= salt[j]
		}
		ctr[14], ctr[15] = byte(i>>8), byte(i)
		block.Encrypt(ctr[:], ctr[:])
		out = append(out, ctr[:]...)
	}
	return out[:n]
}

func TestSEK(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 16)
	k, err := crypt.NewSEK(key, crypt.Salt{})
	if err != nil {
		t.Fatal(err)
	}
	key[0] = 8
	if k.Key()[0] != 7 {
		t.Error("the key is not a copy")
	}
	for _, n := range []int{0, 8, 15, 33} {
		if _, err := crypt.NewSEK(make([]byte, n), crypt.Salt{}); err == nil {
			t.Errorf("key of %d bytes accepted", n)
		}
	}
}

func TestEntropy(t *testing.T) {
	source := bytes.NewReader([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	key, err := crypt.NewKey(source, 16)
	if err != nil || string(key) != "0123456789abcdef" {
		t.Errorf("NewKey = %q, %v", key, err)
	}
	salt, err := crypt.NewSalt(source)
	if err != nil || string(salt[:]) != "ghijklmnopqrstuv" {
		t.Errorf("NewSalt = %q, %v", salt, err)
	}
	if _, err := crypt.NewKey(source, 16); err == nil {
		t.Error("NewKey is content with half a key")
	}
	if _, err := crypt.NewSalt(source); err == nil {
		t.Error("NewSalt is content with nothing")
	}
}

// BenchmarkBlockLoop is what XOR would cost without the standard library's CTR:
// no allocation, but block by block through cipher.Block.
func BenchmarkBlockLoop(b *testing.B) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		b.Fatal(err)
	}
	payload, ctr, stream := make([]byte, 1316), make([]byte, 16), make([]byte, 16)
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		for rest, i := payload, 0; len(rest) > 0; i++ {
			ctr[14], ctr[15] = byte(i>>8), byte(i)
			block.Encrypt(stream, ctr)
			rest = rest[subtle.XORBytes(rest, rest, stream):]
		}
	}
}

func FuzzUnwrapKeys(f *testing.F) {
	f.Add(make([]byte, 16), make([]byte, 24))
	f.Add(make([]byte, 32), make([]byte, 72))
	f.Fuzz(func(t *testing.T, kek, keys []byte) {
		wrapped, err := crypt.WrapKeys(kek, keys)
		if err == nil {
			back, err := crypt.UnwrapKeys(kek, wrapped)
			if err != nil || !bytes.Equal(back, keys) {
				t.Fatalf("%x comes back as %x, %v", keys, back, err)
			}
		}
		if back, err := crypt.UnwrapKeys(kek, keys); err == nil {
			again, err := crypt.WrapKeys(kek, back)
			if err == nil && !bytes.Equal(again, keys) {
				t.Fatalf("%x unwraps to %x, which wraps to %x", keys, back, again)
			}
		}
	})
}
