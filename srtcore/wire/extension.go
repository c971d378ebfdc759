package wire

import "strconv"

// ExtType is the type of a handshake extension block, and the subtype of a
// user-defined control packet that carries one (section 3.2.1.1).
type ExtType uint16

const (
	ExtHSReq      ExtType = 1
	ExtHSRsp      ExtType = 2
	ExtKMReq      ExtType = 3
	ExtKMRsp      ExtType = 4
	ExtSID        ExtType = 5
	ExtCongestion ExtType = 6
	ExtFilter     ExtType = 7
	ExtGroup      ExtType = 8
)

var extNames = [...]string{
	"HSREQ", "HSRSP", "KMREQ", "KMRSP", "SID", "CONGESTION", "FILTER", "GROUP",
}

func (t ExtType) String() string {
	if t >= ExtHSReq && t <= ExtGroup {
		return extNames[t-1]
	}
	return "extension type " + strconv.Itoa(int(t))
}

// extHeaderSize is the block header: type, then length in 32-bit words.
const extHeaderSize = 4

// Extension is one extension block; Content is a view.
type Extension struct {
	Type    ExtType
	Content []byte
}

// ParseExtensions appends the blocks of b to dst. A block that ends behind b,
// and rest too short for a block header, are ErrMalformed, and dst comes back
// with its old length.
func ParseExtensions(b []byte, dst []Extension) ([]Extension, error) {
	old := len(dst)
	for len(b) > 0 {
		if len(b) < extHeaderSize {
			return dst[:old], ErrMalformed
		}
		t, n := ExtType(be.Uint16(b)), 4*int(be.Uint16(b[2:]))
		b = b[extHeaderSize:]
		if n > len(b) {
			return dst[:old], ErrMalformed
		}
		dst = append(dst, Extension{Type: t, Content: b[:n:n]})
		b = b[n:]
	}
	return dst, nil
}

// AppendExtension appends a block. The content is a whole number of words.
func AppendExtension(dst []byte, t ExtType, content []byte) []byte {
	return append(appendExtHeader(dst, t, len(content)/4), content...)
}

func appendExtHeader(dst []byte, t ExtType, words int) []byte {
	dst = be.AppendUint16(dst, uint16(t))
	return be.AppendUint16(dst, uint16(words))
}

// HSFlags are the SRT Flags of HSREQ and HSRSP (section 3.2.1.1.1, table 6).
type HSFlags uint32

const (
	FlagTSBPDSnd    HSFlags = 0x01
	FlagTSBPDRcv    HSFlags = 0x02
	FlagCrypt       HSFlags = 0x04
	FlagTLPktDrop   HSFlags = 0x08
	FlagPeriodicNAK HSFlags = 0x10
	// FlagRexmit: the sender of the flag knows R in data packets.
	FlagRexmit HSFlags = 0x20
	FlagStream HSFlags = 0x40
	FlagFilter HSFlags = 0x80
)

// HSExt is the content of HSREQ and HSRSP.
type HSExt struct {
	// Version of the library: major, minor, patch in the three low bytes.
	Version uint32
	Flags   HSFlags
	// RcvTSBPDDelayMs is the delay of the sender of this message as a receiver,
	// SndTSBPDDelayMs the delay it wishes for (HSREQ) or has granted (HSRSP)
	// to the other side.
	RcvTSBPDDelayMs uint16
	SndTSBPDDelayMs uint16
}

const hsExtSize = 12

// ParseHSExt reads the content of HSREQ or HSRSP; what follows the three words
// is ignored.
func ParseHSExt(content []byte) (HSExt, error) {
	if len(content) < hsExtSize {
		return HSExt{}, ErrShort
	}
	return HSExt{
		Version:         be.Uint32(content),
		Flags:           HSFlags(be.Uint32(content[4:])),
		RcvTSBPDDelayMs: be.Uint16(content[8:]),
		SndTSBPDDelayMs: be.Uint16(content[10:]),
	}, nil
}

// Append appends the block, header included.
func (e HSExt) Append(dst []byte, t ExtType) []byte {
	dst = appendExtHeader(dst, t, hsExtSize/4)
	dst = be.AppendUint32(dst, e.Version)
	dst = be.AppendUint32(dst, uint32(e.Flags))
	dst = be.AppendUint16(dst, e.RcvTSBPDDelayMs)
	return be.AppendUint16(dst, e.SndTSBPDDelayMs)
}

// AppendString appends a block that holds a string (SID, CONGESTION, FILTER),
// header included: padded with zeros to whole words, the bytes of every word
// reversed (section 3.2.1.1.3).
func AppendString(dst []byte, t ExtType, s string) []byte {
	words := (len(s) + 3) / 4
	dst = appendExtHeader(dst, t, words)
	for i := range 4 * words {
		if j := i ^ 3; j < len(s) {
			dst = append(dst, s[j])
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}

// DecodeString returns the string of a block's content, without the zeros at
// its end. Bytes behind the last whole word are ignored.
func DecodeString(content []byte) string {
	n := len(content) &^ 3
	s := make([]byte, n)
	for i := range s {
		s[i] = content[i^3]
	}
	for n > 0 && s[n-1] == 0 {
		n--
	}
	return string(s[:n])
}
