package wire

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Fixed values of a Key Material message (section 3.2.2).
const (
	kmVersionType = 0x12   // S 0, version 1, packet type 2
	kmSign        = 0x2029 // "HAI" in a PnP vendor id
	kmSEMPEGTSSRT = 2      // stream encapsulation

	kmOffSalt = 16
	kmOffKeys = 32

	// kmWrapOverhead is what RFC 3394 adds to the keys.
	kmWrapOverhead = 8
)

// Values of KeyMaterial.Cipher and KeyMaterial.Auth.
const (
	CipherAESCTR uint8 = 2
	CipherAESGCM uint8 = 4
	AuthNone     uint8 = 0
	AuthAESGCM   uint8 = 1
)

// KeyMaterial is the Key Material message of KMREQ, and of a KMRSP that
// accepts it (section 3.2.2).
type KeyMaterial struct {
	KK     KK    // keys in Wrapped: even, odd, or both in this order
	Cipher uint8 // CipherAESCTR or CipherAESGCM
	Auth   uint8
	KeyLen int // bytes of one key: 16, 24 or 32
	Salt   [16]byte
	// Wrapped holds the wrapped keys; parsed, it is a view.
	Wrapped []byte
}

// WrappedLen returns the length that Wrapped has by KK and KeyLen.
func (k *KeyMaterial) WrappedLen() int {
	return bits.OnesCount8(uint8(k.KK))*k.KeyLen + kmWrapOverhead
}

// ParseKeyMaterial reads a Key Material message. Cipher and Auth are not
// judged here, so that a KMRSP can name the reason; reserved bits are ignored.
func ParseKeyMaterial(content []byte) (KeyMaterial, error) {
	if len(content) < kmOffKeys {
		return KeyMaterial{}, ErrShort
	}
	if !kmFixedFields(content) {
		return KeyMaterial{}, ErrMalformed
	}
	k := KeyMaterial{
		KK:      KK(content[3] & 3),
		Cipher:  content[8],
		Auth:    content[9],
		KeyLen:  4 * int(content[15]),
		Salt:    [16]byte(content[kmOffSalt:]),
		Wrapped: content[kmOffKeys:],
	}
	if k.KK == KKClear || !validKeyLen(k.KeyLen) || len(k.Wrapped) != k.WrappedLen() {
		return KeyMaterial{}, ErrMalformed
	}
	return k, nil
}

// kmFixedFields checks version and type, sign, KEKI, stream encapsulation and
// salt length, none of which SRT ever varies.
func kmFixedFields(b []byte) bool {
	return b[0] == kmVersionType && be.Uint16(b[1:]) == kmSign &&
		be.Uint32(b[4:]) == 0 && b[10] == kmSEMPEGTSSRT && 4*int(b[14]) == len(KeyMaterial{}.Salt)
}

func validKeyLen(n int) bool { return n == 16 || n == 24 || n == 32 }

// Append appends the message, without a block header. The caller has made
// Wrapped as long as WrappedLen says.
func (k *KeyMaterial) Append(dst []byte) []byte {
	dst = append(dst, kmVersionType)
	dst = be.AppendUint16(dst, kmSign)
	dst = append(dst, byte(k.KK&3))
	dst = be.AppendUint32(dst, 0) // KEKI: the passphrase
	dst = append(dst, k.Cipher, k.Auth, kmSEMPEGTSSRT, 0, 0, 0, byte(len(k.Salt)/4), byte(k.KeyLen/4))
	dst = append(dst, k.Salt[:]...)
	return append(dst, k.Wrapped...)
}

// KMState is the state of the key exchange in one direction. As the content of
// a KMRSP it is a refusal.
type KMState uint8

const (
	KMUnsecured     KMState = 0
	KMSecuring      KMState = 1
	KMSecured       KMState = 2
	KMNoSecret      KMState = 3
	KMBadSecret     KMState = 4
	KMBadCryptoMode KMState = 5
)

var kmStateNames = [...]string{
	"UNSECURED", "SECURING", "SECURED", "NOSECRET", "BADSECRET", "BADCRYPTOMODE",
}

func (s KMState) String() string {
	if int(s) < len(kmStateNames) {
		return kmStateNames[s]
	}
	return "KM state " + strconv.Itoa(int(s))
}

// ParseKMState reads the content of a KMRSP that is a state. The word comes in
// the peer's own byte order, so either is understood.
func ParseKMState(content []byte) (KMState, bool) {
	if len(content) != 4 {
		return 0, false
	}
	for _, w := range [2]uint32{binary.LittleEndian.Uint32(content), be.Uint32(content)} {
		if w < uint32(len(kmStateNames)) {
			return KMState(w), true
		}
	}
	return 0, false
}

// AppendKMState appends the content of a KMRSP that is a state, without a block
// header; little-endian, as nearly every libsrt sends it.
func AppendKMState(dst []byte, s KMState) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(s))
}
