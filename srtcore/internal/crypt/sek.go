package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"

	"github.com/weirline/weirline/srtcore/seq"
)

// The counter block of AES-CTR (section 6.2.2): 10 zero bytes, the packet
// sequence number, 2 bytes that count blocks; all but the counter XOR the salt.
const (
	ctrOffSeq   = 10
	ctrOffCount = 14
)

// maxOwnCTR is how much the 2 bytes that count blocks can count. A payload is a
// datagram's and never comes near.
const maxOwnCTR = (1 << 16) * aes.BlockSize

// SEK is one Stream Encrypting Key, ready for use. It belongs to one goroutine.
type SEK struct {
	sched  schedule
	rounds int // 0: sched is not made, the standard library does the work
	block  cipher.Block
	key    []byte
	iv     [aes.BlockSize]byte // salt without the counter: sequence number 0
	ctr    [aes.BlockSize]byte // of the packet at hand, for the standard library
}

// NewSEK makes a key of 16, 24 or 32 bytes ready for use; the key is copied.
func NewSEK(key []byte, salt Salt) (*SEK, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	k := &SEK{block: block, key: append([]byte(nil), key...)}
	copy(k.iv[:ctrOffCount], salt[:])
	if ownCTR {
		k.rounds = k.sched.expand(k.key)
	}
	return k, nil
}

// Key returns the key itself, to be wrapped; it is not to be changed.
func (k *SEK) Key() []byte { return k.key }

// XOR encrypts or decrypts the payload of packet s in place. Where the processor
// has AES instructions it allocates nothing (ctr_*.s; decision 0009).
func (k *SEK) XOR(payload []byte, s seq.Number) {
	if k.rounds == 0 || len(payload) > maxOwnCTR {
		k.xorStd(payload, s)
		return
	}
	packet := uint64(bits.ReverseBytes32(uint32(s))) << (8 * (ctrOffSeq - aes.BlockSize/2))
	xorCTR(&k.sched, k.rounds, &k.iv, packet, payload)
}

// xorStd leaves the work to the standard library. Its stream cannot be set to
// another counter, so each packet makes a new one and 512 bytes of garbage;
// cipher.Block instead makes none and takes more than three times as long
// (BenchmarkBlockLoop).
func (k *SEK) xorStd(payload []byte, s seq.Number) {
	k.ctr = k.iv
	w := k.ctr[ctrOffSeq:ctrOffCount]
	binary.BigEndian.PutUint32(w, binary.BigEndian.Uint32(w)^uint32(s))
	cipher.NewCTR(k.block, k.ctr[:]).XORKeyStream(payload, payload)
}
