package wire

import "strconv"

// ControlType is the type of a control packet (section 3.2, table 1).
type ControlType uint16

const (
	CtrlHandshake         ControlType = 0
	CtrlKeepAlive         ControlType = 1
	CtrlACK               ControlType = 2
	CtrlNAK               ControlType = 3
	CtrlCongestionWarning ControlType = 4
	CtrlShutdown          ControlType = 5
	CtrlACKACK            ControlType = 6
	CtrlDropReq           ControlType = 7
	CtrlPeerError         ControlType = 8
	// CtrlUserDefined carries handshake extensions outside the handshake; its
	// subtype is the ExtType (key refresh, and all of them with HSv4).
	CtrlUserDefined ControlType = 0x7FFF

	maxControlType = 0x7FFF
)

var controlNames = [...]string{
	"HANDSHAKE", "KEEPALIVE", "ACK", "NAK", "CONGESTION WARNING", "SHUTDOWN",
	"ACKACK", "DROPREQ", "PEERERROR",
}

func (t ControlType) String() string {
	if int(t) < len(controlNames) {
		return controlNames[t]
	}
	if t == CtrlUserDefined {
		return "USERDEFINED"
	}
	return "control type " + strconv.Itoa(int(t))
}

// EmptyContentSize is the content of control packets that have nothing to say
// (keep-alive, shutdown, ACKACK, peer error): one zero word, because libsrt
// never sends an empty control packet. Received, both are fine.
const EmptyContentSize = 4

// ControlHeader is the header of a control packet (section 3.2).
type ControlHeader struct {
	Type    ControlType
	Subtype uint16
	// Info is the Type-specific Information: the ACK number of ACK and ACKACK
	// (0 in a light ACK), the message number of a drop request (0: by range
	// only), the code of a peer error; else 0.
	Info      uint32
	Timestamp Timestamp
	Dest      SocketID
}

// ParseControl reads the header of a control packet and returns what follows
// it. A data packet is ErrMalformed.
func ParseControl(b []byte) (ControlHeader, []byte, error) {
	if len(b) < HeaderSize {
		return ControlHeader{}, nil, ErrShort
	}
	if b[0]&0x80 == 0 {
		return ControlHeader{}, nil, ErrMalformed
	}
	return ControlHeader{
		Type:      ControlType(be.Uint16(b) & maxControlType),
		Subtype:   be.Uint16(b[2:]),
		Info:      be.Uint32(b[offInfo:]),
		Timestamp: Stamp(b),
		Dest:      Dest(b),
	}, b[HeaderSize:], nil
}

// Put writes the header into the first 16 bytes of b.
func (h ControlHeader) Put(b []byte) {
	_ = b[HeaderSize-1]
	be.PutUint16(b, 0x8000|uint16(h.Type))
	be.PutUint16(b[2:], h.Subtype)
	be.PutUint32(b[offInfo:], h.Info)
	SetStamp(b, h.Timestamp)
	SetDest(b, h.Dest)
}
