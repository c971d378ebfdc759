package wire

import "github.com/weirline/weirline/srtcore/seq"

// PP is the Packet Position Flag: the place of a packet in its message.
type PP uint8

const (
	PPMiddle PP = 0
	PPLast   PP = 1
	PPFirst  PP = 2
	// PPSolo is a message of one packet, the only kind of live mode.
	PPSolo PP = 3
)

func (p PP) String() string {
	return [...]string{"middle", "last", "first", "solo"}[p&3]
}

// KK is the Key-based Encryption Flag: of a data packet the key it was
// encrypted with, of a Key Material message the keys it carries.
type KK uint8

const (
	KKClear KK = 0
	KKEven  KK = 1
	KKOdd   KK = 2
	// KKBoth occurs in Key Material only.
	KKBoth KK = 3
)

func (k KK) String() string {
	return [...]string{"clear", "even", "odd", "both"}[k&3]
}

// Other returns the other key slot; clear and both are their own others.
func (k KK) Other() KK {
	switch k {
	case KKEven:
		return KKOdd
	case KKOdd:
		return KKEven
	}
	return k
}

// The second word of a data packet: PP 2, O 1, KK 2, R 1, message number 26
// bits (section 3.1).
const (
	shiftPP   = 30
	bitOrder  = 1 << 29
	shiftKK   = 27
	bitRexmit = 1 << 26
	maskMsgNo = uint32(seq.MaxMsgNo)

	// rexmitByte and rexmitMask are bitRexmit within its byte.
	rexmitByte = 4
	rexmitMask = bitRexmit >> 24
)

// DataHeader is the header of a data packet (section 3.1).
type DataHeader struct {
	Seq     seq.Number
	PP      PP
	InOrder bool // O: the message may not overtake earlier ones
	KK      KK
	Rexmit  bool // R: sent before
	// MsgNo is 0 in packets of a packet filter only.
	MsgNo     seq.MsgNo
	Timestamp Timestamp
	Dest      SocketID
}

// ParseData reads the header of a data packet. A control packet is
// ErrMalformed.
func ParseData(b []byte) (DataHeader, error) {
	if len(b) < HeaderSize {
		return DataHeader{}, ErrShort
	}
	if b[0]&0x80 != 0 {
		return DataHeader{}, ErrMalformed
	}
	w := be.Uint32(b[offInfo:])
	return DataHeader{
		Seq:       DataSeq(b),
		PP:        PP(w >> shiftPP),
		InOrder:   w&bitOrder != 0,
		KK:        KK(w >> shiftKK & 3),
		Rexmit:    w&bitRexmit != 0,
		MsgNo:     seq.MsgNo(w & maskMsgNo),
		Timestamp: Stamp(b),
		Dest:      Dest(b),
	}, nil
}

// Put writes the header into the first 16 bytes of b.
func (h DataHeader) Put(b []byte) {
	w := uint32(h.PP&3)<<shiftPP | uint32(h.KK&3)<<shiftKK | uint32(h.MsgNo)&maskMsgNo
	if h.InOrder {
		w |= bitOrder
	}
	if h.Rexmit {
		w |= bitRexmit
	}
	_ = b[HeaderSize-1]
	be.PutUint32(b, uint32(h.Seq&seq.Max))
	be.PutUint32(b[offInfo:], w)
	SetStamp(b, h.Timestamp)
	SetDest(b, h.Dest)
}

// DataSeq returns the Packet Sequence Number of a data packet.
func DataSeq(b []byte) seq.Number { return seq.Number(be.Uint32(b)) & seq.Max }

// DataKK returns the key that a data packet was encrypted with.
func DataKK(b []byte) KK { return KK(be.Uint32(b[offInfo:]) >> shiftKK & 3) }

// SetKK sets the key field of a data packet.
func SetKK(b []byte, k KK) {
	w := be.Uint32(b[offInfo:])&^(3<<shiftKK) | uint32(k&3)<<shiftKK
	be.PutUint32(b[offInfo:], w)
}

// IsRexmit reports whether R is set: the packet is a retransmission.
func IsRexmit(b []byte) bool { return b[rexmitByte]&rexmitMask != 0 }

// SetRexmit sets or clears R of a data packet; all else, and with it the
// ciphertext, stays as it was first sent.
func SetRexmit(b []byte, on bool) {
	if on {
		b[rexmitByte] |= rexmitMask
	} else {
		b[rexmitByte] &^= rexmitMask
	}
}
