package wire

import "encoding/binary"

// HeaderSize is the length of the header that data and control packets share
// in size, and in the place of its last two words (section 3, figure 2).
const HeaderSize = 16

const (
	offInfo      = 4
	offTimestamp = 8
	offDest      = 12

	topBit = 1 << 31
)

var be = binary.BigEndian

// IsControl reports whether b holds a control packet; false if b is shorter
// than a header.
func IsControl(b []byte) bool { return len(b) >= HeaderSize && b[0]&0x80 != 0 }

// Dest returns the Destination SRT Socket ID; b holds at least a header.
func Dest(b []byte) SocketID { return SocketID(be.Uint32(b[offDest:])) }

// SetDest writes the Destination SRT Socket ID.
func SetDest(b []byte, id SocketID) { be.PutUint32(b[offDest:], uint32(id)) }

// Stamp returns the time stamp; b holds at least a header.
func Stamp(b []byte) Timestamp { return Timestamp(be.Uint32(b[offTimestamp:])) }

// SetStamp writes the time stamp.
func SetStamp(b []byte, t Timestamp) { be.PutUint32(b[offTimestamp:], uint32(t)) }
