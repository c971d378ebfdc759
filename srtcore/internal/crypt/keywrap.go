package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrBadSecret: the keys were wrapped with another KEK, which means another
// passphrase, or were damaged on the way.
var ErrBadSecret = errors.New("crypt: bad secret")

// wrapBlock is the unit of RFC 3394, half an AES block.
const wrapBlock = 8

// wrapIV is the default initial value of RFC 3394, section 2.2.3.1.
var wrapIV = [wrapBlock]byte{0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6}

// WrapKeys encrypts keys with kek (RFC 3394, section 2.2.1); the result is 8
// bytes longer. The keys are a multiple of 8 bytes, 16 at least.
func WrapKeys(kek []byte, keys []byte) ([]byte, error) {
	if len(keys)%wrapBlock != 0 || len(keys) < 2*wrapBlock {
		return nil, fmt.Errorf("crypt: %d bytes of keys cannot be wrapped", len(keys))
	}
	block, err := aes.NewCipher(kek)
	if err != nil {
		return nil, err
	}
	out := make([]byte, wrapBlock+len(keys))
	copy(out, wrapIV[:])
	copy(out[wrapBlock:], keys)
	wrapRounds(block, out)
	return out, nil
}

// UnwrapKeys decrypts what WrapKeys made (RFC 3394, section 2.2.2). A failed
// integrity check is ErrBadSecret.
func UnwrapKeys(kek, wrapped []byte) ([]byte, error) {
	if len(wrapped)%wrapBlock != 0 || len(wrapped) < 3*wrapBlock {
		return nil, fmt.Errorf("crypt: %d bytes are no wrapped keys", len(wrapped))
	}
	block, err := aes.NewCipher(kek)
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), wrapped...)
	unwrapRounds(block, out)
	if subtle.ConstantTimeCompare(out[:wrapBlock], wrapIV[:]) != 1 {
		return nil, ErrBadSecret
	}
	return out[wrapBlock:], nil
}

// wrapRounds runs the six rounds over a[0:8], the integrity check value, and
// the blocks behind it.
func wrapRounds(block cipher.Block, a []byte) {
	var buf [aes.BlockSize]byte
	t := uint64(0)
	for range 6 {
		for i := wrapBlock; i < len(a); i += wrapBlock {
			t++
			copy(buf[:], a[:wrapBlock])
			copy(buf[wrapBlock:], a[i:i+wrapBlock])
			block.Encrypt(buf[:], buf[:])
			xorCounter(buf[:], t)
			copy(a, buf[:wrapBlock])
			copy(a[i:], buf[wrapBlock:])
		}
	}
}

// unwrapRounds undoes wrapRounds.
func unwrapRounds(block cipher.Block, a []byte) {
	var buf [aes.BlockSize]byte
	t := 6 * uint64(len(a)/wrapBlock-1)
	for range 6 {
		for i := len(a) - wrapBlock; i > 0; i -= wrapBlock {
			copy(buf[:], a[:wrapBlock])
			copy(buf[wrapBlock:], a[i:i+wrapBlock])
			xorCounter(buf[:], t)
			block.Decrypt(buf[:], buf[:])
			copy(a, buf[:wrapBlock])
			copy(a[i:], buf[wrapBlock:])
			t--
		}
	}
}

func xorCounter(b []byte, t uint64) {
	binary.BigEndian.PutUint64(b, binary.BigEndian.Uint64(b)^t)
}
