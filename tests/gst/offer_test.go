package gst

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"
)

// offer is what a caller asked for in its conclusion.
type offer struct {
	latency  int // ms, of the receiving direction
	streamID string
	keyLen   int // of the offered key, 0: not encrypted
}

// listenForOffer is a listener made by hand that answers an induction and reads
// one conclusion, which it leaves unanswered (draft-sharabayko-srt-01, section
// 4.3.1). It returns its port and where the offer comes.
func listenForOffer(t *testing.T) (port int, offers <-chan offer) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan offer, 1)
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDP(buf)
			if err != nil {
				return
			}
			answer, o, done := handleHandshake(buf[:n])
			if answer != nil {
				_, _ = conn.WriteToUDP(answer, from)
			}
			if done {
				select {
				case out <- o:
				default:
				}
			}
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port, out
}

// Offsets in a handshake packet: 16 bytes of header, then the fields of section
// 3.2.1.
const (
	atDestination = 12
	atVersion     = 16
	atEncryption  = 20
	atExtension   = 22
	atType        = 36
	atSocketID    = 40
	atCookie      = 44
	atExtensions  = 64
)

func handleHandshake(b []byte) (answer []byte, o offer, done bool) {
	if len(b) < atExtensions || b[0] != 0x80 || b[1] != 0 {
		return nil, o, false
	}
	const induction, conclusion, cookie, magic = 1, 0xFFFFFFFF, 0x5EC0DE, 0x4A17
	switch binary.BigEndian.Uint32(b[atType:]) {
	case induction:
		answer = append([]byte{}, b[:atExtensions]...)
		copy(answer[atDestination:atDestination+4], b[atSocketID:])
		binary.BigEndian.PutUint32(answer[atVersion:], 5)
		binary.BigEndian.PutUint16(answer[atEncryption:], 0)
		binary.BigEndian.PutUint16(answer[atExtension:], magic)
		binary.BigEndian.PutUint32(answer[atSocketID:], 4711)
		binary.BigEndian.PutUint32(answer[atCookie:], cookie)
		return answer, o, false
	case conclusion:
		return nil, readExtensions(b[atExtensions:]), true
	}
	return nil, o, false
}

func readExtensions(b []byte) (o offer) {
	const hsreq, kmreq, sid = 1, 3, 5
	for len(b) >= 4 {
		kind, size := binary.BigEndian.Uint16(b), 4*int(binary.BigEndian.Uint16(b[2:]))
		if len(b) < 4+size {
			return o
		}
		body := b[4 : 4+size]
		switch {
		case kind == hsreq && size >= 12:
			o.latency = int(binary.BigEndian.Uint16(body[8:]))
		case kind == kmreq && size >= 16:
			o.keyLen = 4 * int(body[15])
		case kind == sid:
			o.streamID = readStreamID(body)
		}
		b = b[4+size:]
	}
	return o
}

// readStreamID turns the words of a stream id around (section 3.2.1.3).
func readStreamID(b []byte) string {
	var out strings.Builder
	for ; len(b) >= 4; b = b[4:] {
		out.Write([]byte{b[3], b[2], b[1], b[0]})
	}
	return strings.TrimRight(out.String(), "\x00")
}

// offerOf runs an element as a caller until its offer is there. The line has
// {port}, and the element under test is named srt.
func offerOf(t *testing.T, h *host, line string) (o offer, came bool) {
	t.Helper()
	port, offers := listenForOffer(t)
	h.play("offer", strings.ReplaceAll(line, "{port}", itoa(port)))
	defer h.do("free", "offer", nil)
	select {
	case o = <-offers:
		return o, true
	case <-time.After(2 * time.Second):
		return o, false
	}
}
