package wire

import "github.com/weirline/weirline/srtcore/seq"

// ACKKind tells the three acknowledgements apart, which differ in length
// (section 3.2.4).
type ACKKind uint8

const (
	ACKLight ACKKind = iota // sequence number only; has no ACK number
	ACKSmall                // and RTT, RTT variance, free buffer
	ACKFull                 // and rates
)

const (
	ackLightSize = 4
	ackSmallSize = 16
	ackFullSize  = 28

	// ackOldFullSize is a full ACK of peers older than 1.0.3, or of unknown
	// version: without the rate in bytes.
	ackOldFullSize = 24
)

func (k ACKKind) String() string {
	switch k {
	case ACKLight:
		return "light"
	case ACKSmall:
		return "small"
	}
	return "full"
}

// Size returns the length of the content.
func (k ACKKind) Size() int {
	switch k {
	case ACKLight:
		return ackLightSize
	case ACKSmall:
		return ackSmallSize
	}
	return ackFullSize
}

// ACK is the content of an acknowledgement. Its number stands in the header.
type ACK struct {
	Kind ACKKind
	// LastAckSeq is the Last Acknowledged Packet Sequence Number. The name is
	// off by one: it is the first number not yet acknowledged.
	LastAckSeq   seq.Number
	RTTUs        uint32
	RTTVarUs     uint32
	AvailBufPkts uint32
	RcvRatePkts  uint32 // packets/s
	LinkCapPkts  uint32 // packets/s
	RcvRateBytes uint32 // bytes/s
}

// ParseACK reads the content of an ACK; its length says which kind it is.
func ParseACK(content []byte) (ACK, error) {
	if len(content) < ackLightSize {
		return ACK{}, ErrShort
	}
	first := be.Uint32(content)
	if first&topBit != 0 {
		return ACK{}, ErrMalformed
	}
	a := ACK{Kind: ACKLight, LastAckSeq: seq.Number(first)}
	if len(content) >= ackSmallSize {
		a.Kind = ACKSmall
		a.RTTUs = be.Uint32(content[4:])
		a.RTTVarUs = be.Uint32(content[8:])
		a.AvailBufPkts = be.Uint32(content[12:])
	}
	if len(content) >= ackOldFullSize {
		a.Kind = ACKFull
		a.RcvRatePkts = be.Uint32(content[16:])
		a.LinkCapPkts = be.Uint32(content[20:])
	}
	if len(content) >= ackFullSize {
		a.RcvRateBytes = be.Uint32(content[24:])
	}
	return a, nil
}

// Put writes the content, a.Kind.Size() bytes.
func (a ACK) Put(content []byte) {
	_ = content[a.Kind.Size()-1]
	be.PutUint32(content, uint32(a.LastAckSeq&seq.Max))
	if a.Kind == ACKLight {
		return
	}
	be.PutUint32(content[4:], a.RTTUs)
	be.PutUint32(content[8:], a.RTTVarUs)
	be.PutUint32(content[12:], a.AvailBufPkts)
	if a.Kind == ACKSmall {
		return
	}
	be.PutUint32(content[16:], a.RcvRatePkts)
	be.PutUint32(content[20:], a.LinkCapPkts)
	be.PutUint32(content[24:], a.RcvRateBytes)
}
