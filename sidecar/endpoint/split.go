package endpoint

import "github.com/weirline/weirline/sidecar/mpegts"

// split hands the message out in pieces of at most limit bytes, cut between
// transport stream packets where it is one.
func split(msg []byte, limit int, write func([]byte) error) error {
	step := limit
	if whole := limit / mpegts.PacketSize * mpegts.PacketSize; whole > 0 && mpegts.LooksLikeTS(msg) {
		step = whole
	}
	for len(msg) > step {
		if err := write(msg[:step]); err != nil {
			return err
		}
		msg = msg[step:]
	}
	return write(msg)
}
