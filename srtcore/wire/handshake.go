package wire

import (
	"net/netip"
	"strconv"

	"github.com/weirline/weirline/srtcore/seq"
)

// HandshakeSize is the length of a handshake's content without extensions.
const HandshakeSize = 48

// HSType is the Handshake Type: a step of the handshake, or a rejection.
type HSType int32

const (
	HSWaveahand  HSType = 0
	HSInduction  HSType = 1
	HSConclusion HSType = -1
	HSAgreement  HSType = -2
)

// IsReject reports whether t is a rejection; RejectReason(t) says why.
func (t HSType) IsReject() bool { return t >= HSType(RejUnknown) }

func (t HSType) String() string {
	switch t {
	case HSWaveahand:
		return "WAVEAHAND"
	case HSInduction:
		return "INDUCTION"
	case HSConclusion:
		return "CONCLUSION"
	case HSAgreement:
		return "AGREEMENT"
	}
	if t.IsReject() {
		return "rejection: " + RejectReason(t).String()
	}
	return "handshake type " + strconv.Itoa(int(t))
}

// HSMagic in the Extension Field of an induction response says that the
// listener speaks handshake version 5 (section 4.3.1.1).
const HSMagic uint16 = 0x4A17

// Bits of the Extension Field in a conclusion (section 3.2.1, table 3).
const (
	ExtFieldHSReq  uint16 = 1
	ExtFieldKMReq  uint16 = 2
	ExtFieldConfig uint16 = 4
)

// Handshake is the content of a handshake packet (section 3.2.1).
type Handshake struct {
	Version uint32
	// EncField is the advertised key length in 8-byte units (0, 2, 3, 4).
	EncField uint16
	// ExtField holds ExtField bits in a conclusion, HSMagic in an induction
	// response, 2 in a caller's induction.
	ExtField uint16
	// InitSeq as it came: a peer may have set the top bit.
	InitSeq    seq.Number
	MSS        uint32
	FlowWindow uint32
	Type       HSType
	SocketID   SocketID
	Cookie     uint32
	// PeerIP in wire form; see PeerIP and PeerAddr.
	PeerIP [16]byte
	// Exts is a view of the extension blocks behind the 48 bytes.
	Exts []byte
}

// ParseHandshake reads the content of a handshake packet.
func ParseHandshake(content []byte) (Handshake, error) {
	if len(content) < HandshakeSize {
		return Handshake{}, ErrShort
	}
	h := Handshake{
		Version:    be.Uint32(content),
		EncField:   be.Uint16(content[4:]),
		ExtField:   be.Uint16(content[6:]),
		InitSeq:    seq.Number(be.Uint32(content[8:])),
		MSS:        be.Uint32(content[12:]),
		FlowWindow: be.Uint32(content[16:]),
		Type:       HSType(be.Uint32(content[20:])),
		SocketID:   SocketID(be.Uint32(content[24:])),
		Cookie:     be.Uint32(content[28:]),
		Exts:       content[HandshakeSize:],
	}
	copy(h.PeerIP[:], content[32:])
	return h, nil
}

// Append appends the 48 bytes and the extension blocks.
func (h *Handshake) Append(dst []byte) []byte {
	dst = be.AppendUint32(dst, h.Version)
	dst = be.AppendUint16(dst, h.EncField)
	dst = be.AppendUint16(dst, h.ExtField)
	dst = be.AppendUint32(dst, uint32(h.InitSeq))
	dst = be.AppendUint32(dst, h.MSS)
	dst = be.AppendUint32(dst, h.FlowWindow)
	dst = be.AppendUint32(dst, uint32(h.Type))
	dst = be.AppendUint32(dst, uint32(h.SocketID))
	dst = be.AppendUint32(dst, h.Cookie)
	dst = append(dst, h.PeerIP[:]...)
	return append(dst, h.Exts...)
}

// PeerIP returns the wire form of an address: every 32-bit word with its bytes
// reversed, IPv4 in the first word and zeros behind it. An invalid address
// gives zeros.
func PeerIP(a netip.Addr) (ip [16]byte) {
	a = a.Unmap()
	switch {
	case a.Is4():
		v4 := a.As4()
		copy(ip[:], v4[:])
	case a.Is6():
		ip = a.As16()
	}
	return reverseWords(ip)
}

// PeerAddr returns the address of the receiver as the peer sees it. An IPv6
// address with nothing behind its first word cannot be told from IPv4.
func (h *Handshake) PeerAddr() netip.Addr {
	ip := reverseWords(h.PeerIP)
	if [12]byte(ip[4:]) == ([12]byte{}) {
		return netip.AddrFrom4([4]byte(ip[:4]))
	}
	return netip.AddrFrom16(ip).Unmap()
}

func reverseWords(ip [16]byte) [16]byte {
	for i := 0; i < len(ip); i += 4 {
		ip[i], ip[i+1], ip[i+2], ip[i+3] = ip[i+3], ip[i+2], ip[i+1], ip[i]
	}
	return ip
}
