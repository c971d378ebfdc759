package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"github.com/weirline/weirline/srtcore/seq"
)

// The counter block of AES-CTR (section 6.2.2): 10 zero bytes, the packet
// sequence number, 2 bytes that count blocks; all but the counter XOR the salt.
const (
	ctrOffSeq   = 10
	ctrOffCount = 14
)

// SEK is one Stream Encrypting Key, ready for use. It belongs to one goroutine.
type SEK struct {
	block cipher.Block
	key   []byte
	iv    [aes.BlockSize]byte // salt without the counter: sequence number 0
	ctr   [aes.BlockSize]byte // of the packet at hand
}

// NewSEK makes a key of 16, 24 or 32 bytes ready for use; the key is copied.
func NewSEK(key []byte, salt Salt) (*SEK, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	k := &SEK{block: block, key: append([]byte(nil), key...)}
	copy(k.iv[:ctrOffCount], salt[:])
	return k, nil
}

// Key returns the key itself, to be wrapped; it is not to be changed.
func (k *SEK) Key() []byte { return k.key }

// XOR encrypts or decrypts the payload of packet s in place. The standard
// library's stream cannot be set to another counter, so each packet makes a new
// one, its only allocation (512 bytes); going through cipher.Block instead
// allocates nothing and takes more than three times as long (BenchmarkXOR,
// BenchmarkBlockLoop).
func (k *SEK) XOR(payload []byte, s seq.Number) {
	if len(payload) == 0 {
		return
	}
	k.ctr = k.iv
	w := k.ctr[ctrOffSeq:ctrOffCount]
	binary.BigEndian.PutUint32(w, binary.BigEndian.Uint32(w)^uint32(s))
	cipher.NewCTR(k.block, k.ctr[:]).XORKeyStream(payload, payload)
}
