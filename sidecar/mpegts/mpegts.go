// Package mpegts cuts a byte stream into SRT messages and looks at transport
// streams that pass. A stream of bytes (HTTP body, unix or TCP socket, file,
// pipe) has no message boundaries, and its reads end anywhere; live SRT
// receivers expect whole 188-byte transport stream packets, seven to a message.
//
// Lives here: Aligner, the search for the sync byte and the cut points between
// messages; CutPoint and Begin, where a decoder can go on or begin; Health, what is wrong with a
// stream, its tables read by go-astits.
// May import: bytes, sync, go-astits; time, for times that are handed in.
// Never: net, reading a clock, a goroutine.
package mpegts

// Sizes of a transport stream (ISO/IEC 13818-1, 2.4.3) and of the customary
// live message.
const (
	PacketSize         = 188
	PacketsPerMessage  = 7
	DefaultMessageSize = PacketSize * PacketsPerMessage // 1316

	syncByte = 0x47
)

// LooksLikeTS reports whether b is one or more whole transport stream packets.
func LooksLikeTS(b []byte) bool {
	return len(b) > 0 && len(b)%PacketSize == 0 && inSync(b)
}

// inSync reports whether every packet that starts within b starts with the
// sync byte.
func inSync(b []byte) bool {
	for i := 0; i < len(b); i += PacketSize {
		if b[i] != syncByte {
			return false
		}
	}
	return true
}

// HasSync reports whether packets lie somewhere in b: three sync bytes in a row,
// or two if b has no room for more.
func HasSync(b []byte) bool {
	for i := 0; i+PacketSize < len(b); i++ {
		if b[i] == syncByte && inSync(b[i:min(len(b), i+confirm*PacketSize)]) {
			return true
		}
	}
	return false
}
