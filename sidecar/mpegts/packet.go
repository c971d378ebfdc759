package mpegts

import "encoding/binary"

// head is the first four bytes of a packet (ISO/IEC 13818-1, 2.4.3.2).
type head uint32

func headOf(p []byte) head { return head(binary.BigEndian.Uint32(p)) }

func (h head) transportError() bool { return h&0x00800000 != 0 }
func (h head) unitStart() bool      { return h&0x00400000 != 0 }
func (h head) pid() uint16          { return uint16(h>>8) & 0x1fff }
func (h head) scrambled() bool      { return h&0xc0 != 0 }
func (h head) hasAdaptation() bool  { return h&0x20 != 0 }
func (h head) hasPayload() bool     { return h&0x10 != 0 }
func (h head) counter() uint8       { return uint8(h & 0x0f) }

const (
	pidPAT  = 0
	pidNull = 0x1fff
)

// Flags of the adaptation field (2.4.3.4).
const (
	flagDiscontinuity = 0x80
	flagRandomAccess  = 0x40
	flagPCR           = 0x10
)

// adaptation returns the flags of the adaptation field, 0 if there is none.
func adaptation(p []byte, h head) byte {
	if !h.hasAdaptation() || p[4] == 0 {
		return 0
	}
	return p[5]
}

// payload returns what follows the header and the adaptation field; nil if that
// is nothing, or the field is longer than the packet.
func payload(p []byte, h head) []byte {
	if !h.hasPayload() {
		return nil
	}
	at := 4
	if h.hasAdaptation() {
		at += 1 + int(p[4])
	}
	if at >= PacketSize {
		return nil
	}
	return p[at:PacketSize]
}

// pcr returns the program clock reference in ticks of 27 MHz (2.4.3.5); false:
// the packet has none.
func pcr(p []byte, h head) (uint64, bool) {
	if adaptation(p, h)&flagPCR == 0 || p[4] < 7 {
		return 0, false
	}
	base := uint64(binary.BigEndian.Uint32(p[6:]))<<1 | uint64(p[10]>>7)
	return base*300 + uint64(p[10]&1)<<8 + uint64(p[11]), true
}
