package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weirline/weirline/srtcore/wire"
)

// keyMaterial returns a well-formed message with n keys of klen bytes.
func keyMaterial(kk wire.KK, klen int) []byte {
	k := wire.KeyMaterial{KK: kk, Cipher: wire.CipherAESCTR, KeyLen: klen}
	for i := range k.Salt {
		k.Salt[i] = byte(0xA0 + i)
	}
	k.Wrapped = bytes.Repeat([]byte{0x55}, k.WrappedLen())
	return k.Append(nil)
}

func TestKeyMaterial(t *testing.T) {
	for _, kk := range []wire.KK{wire.KKEven, wire.KKOdd, wire.KKBoth} {
		for _, klen := range []int{16, 24, 32} {
			b := keyMaterial(kk, klen)
			k, err := wire.ParseKeyMaterial(b)
			if err != nil || k.KK != kk || k.KeyLen != klen || k.Cipher != wire.CipherAESCTR ||
				k.Auth != wire.AuthNone || k.Salt[15] != 0xAF {
				t.Errorf("%v key of %d bytes: %+v, %v", kk, klen, k, err)
			}
			if !bytes.Equal(k.Append(nil), b) {
				t.Errorf("%v key of %d bytes encodes to %x", kk, klen, k.Append(nil))
			}
		}
	}
}

func TestKeyMaterialErrors(t *testing.T) {
	good := keyMaterial(wire.KKEven, 16)
	for _, at := range []struct {
		off  int
		val  byte
		what string
	}{
		{0, 0x22, "version"}, {0, 0x11, "packet type"}, {1, 0, "sign"}, {2, 0, "sign"},
		{3, 0, "no key"}, {3, 3, "two keys announced"}, {7, 1, "KEKI"}, {10, 1, "stream encapsulation"},
		{14, 3, "salt length"}, {14, 255, "salt length"}, {15, 0, "key length"}, {15, 5, "key length"},
		{15, 8, "key length longer than the keys"}, {15, 255, "key length"},
	} {
		b := bytes.Clone(good)
		b[at.off] = at.val
		if _, err := wire.ParseKeyMaterial(b); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", at.what, err)
		}
	}
	for n := range len(good) {
		if _, err := wire.ParseKeyMaterial(good[:n]); err == nil {
			t.Errorf("cut to %d bytes: no error", n)
		}
	}
	if _, err := wire.ParseKeyMaterial(append(bytes.Clone(good), 0, 0, 0, 0)); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("a word too many: %v", err)
	}
	b := bytes.Clone(good)
	b[3] |= 0xFC
	b[8], b[9], b[11] = 77, 78, 79
	if k, err := wire.ParseKeyMaterial(b); err != nil || k.KK != wire.KKEven || k.Cipher != 77 || k.Auth != 78 {
		t.Errorf("reserved bits and unknown cipher: %+v, %v", k, err)
	}
}

func TestKMState(t *testing.T) {
	tests := []struct {
		hex  string
		want wire.KMState
		ok   bool
	}{
		{"04000000", wire.KMBadSecret, true},
		{"00000004", wire.KMBadSecret, true},
		{"00000000", wire.KMUnsecured, true},
		{"05000000", wire.KMBadCryptoMode, true},
		{"06000000", 0, false},
		{"04000001", 0, false},
		{"", 0, false},
		{"0400000000000000", 0, false},
	}
	for _, tt := range tests {
		got, ok := wire.ParseKMState(unhex(t, tt.hex))
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %v, %v", tt.hex, got, ok)
		}
	}
	if got := wire.AppendKMState(nil, wire.KMNoSecret); !bytes.Equal(got, []byte{3, 0, 0, 0}) {
		t.Errorf("AppendKMState = %x", got)
	}
}
