package mpegts

// CutPoint reports whether a decoder can begin with this message: one of its
// packets starts a program association table, or is marked as a point of random
// access of a video stream (the mark alone says little: encoders set it on every
// audio frame, too). Of what is not a transport stream every message is one.
func CutPoint(msg []byte) bool {
	if !LooksLikeTS(msg) {
		return true
	}
	for ; len(msg) > 0; msg = msg[PacketSize:] {
		if h := headOf(msg); h.unitStart() && !h.transportError() && begins(msg, h) {
			return true
		}
	}
	return false
}

// Begin is where in this message a decoder can begin that knows nothing of the
// stream: at the first packet that starts a program association table; -1: nowhere.
// Of what is not a transport stream every message can be begun with.
func Begin(msg []byte) int {
	if !LooksLikeTS(msg) {
		return 0
	}
	for at := 0; at < len(msg); at += PacketSize {
		h := headOf(msg[at:])
		if h.pid() == pidPAT && h.unitStart() && h.hasPayload() && !h.transportError() {
			return at
		}
	}
	return -1
}

func begins(p []byte, h head) bool {
	if h.pid() == pidPAT {
		return h.hasPayload()
	}
	if adaptation(p, h)&flagRandomAccess == 0 {
		return false
	}
	return h.scrambled() || startsVideo(payload(p, h))
}

// startsVideo reports whether b begins a PES packet of a video stream (2.4.3.7).
func startsVideo(b []byte) bool {
	if len(b) < 4 || b[0] != 0 || b[1] != 0 || b[2] != 1 {
		return false
	}
	const extended = 0xfd // VC-1, Dirac and others
	return b[3]&0xf0 == 0xe0 || b[3] == extended
}
