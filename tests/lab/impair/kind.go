package impair

import "encoding/binary"

// Kind is what an SRT packet is, told by its first bytes
// (draft-sharabayko-srt-01, section 3). Request and response are told apart by
// their direction.
type Kind uint8

const (
	Other  Kind = iota // no SRT packet, or one of no interest
	Data               // a data packet sent for the first time
	Rexmit             // a data packet with the retransmission flag
	Induction
	Conclusion
	Rejection // a handshake that refuses
	KeepAlive
	ACK
	NAK
	Shutdown
	ACKACK
	DropReq
	KMReq
	KMRsp
	// KindCount is the number of kinds.
	KindCount
)

var kindNames = [KindCount]string{"other", "data", "rexmit", "induction", "conclusion", "rejection",
	"keepalive", "ack", "nak", "shutdown", "ackack", "dropreq", "kmreq", "kmrsp"}

func (k Kind) String() string {
	if k >= KindCount {
		return "unknown"
	}
	return kindNames[k]
}

const headerSize = 16

// Classify tells the kind of a datagram.
func Classify(b []byte) Kind {
	if len(b) < headerSize {
		return Other
	}
	if b[0]&0x80 == 0 {
		if b[4]&0x04 != 0 { // R, bit 5 of the second word
			return Rexmit
		}
		return Data
	}
	switch binary.BigEndian.Uint16(b) & 0x7FFF {
	case 0:
		return classifyHandshake(b[headerSize:])
	case 1:
		return KeepAlive
	case 2:
		return ACK
	case 3:
		return NAK
	case 5:
		return Shutdown
	case 6:
		return ACKACK
	case 7:
		return DropReq
	case 0x7FFF:
		return classifyExtended(binary.BigEndian.Uint16(b[2:]))
	}
	return Other
}

func classifyHandshake(content []byte) Kind {
	if len(content) < 24 {
		return Other
	}
	switch t := int32(binary.BigEndian.Uint32(content[20:])); {
	case t == 1:
		return Induction
	case t == -1:
		return Conclusion
	case t >= 1000:
		return Rejection
	}
	return Other
}

// classifyExtended tells user-defined control packets apart by their subtype.
func classifyExtended(subtype uint16) Kind {
	switch subtype {
	case 3:
		return KMReq
	case 4:
		return KMRsp
	}
	return Other
}
