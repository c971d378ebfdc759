package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// handshake is a connection's part in its own handshake: the caller's requests
// and their repetition, the responder's answer and its.
type handshake struct {
	responder bool
	next      mono.Time // the request is repeated then
	giveUp    mono.Time
	cookie    uint32
	encField  uint16 // the listener's PBKEYLEN/8, from the induction response
	kmReq     []byte
	message   []byte // the current request, or the responder's answer
}

// handshakeRepeat is the time between repetitions of a request.
const handshakeRepeat = 250 * time.Millisecond

func (h *handshake) nextDeadline() mono.Time { return mono.Min(h.next, h.giveUp) }

// advanceHandshake repeats the request, or gives up.
func (c *Conn) advanceHandshake(now mono.Time) {
	if now >= c.hs.giveUp {
		c.die(ErrConnTimeout)
		return
	}
	if now >= c.hs.next {
		c.ctl.handshake = true
		c.hs.next = now.Add(handshakeRepeat)
	}
}

// pollHandshake appends the current handshake message with a fresh time stamp.
func (c *Conn) pollHandshake(now mono.Time, b *dgram.Batch) {
	c.ctl.handshake = false
	if c.state == stateDead {
		return
	}
	p := b.AddControl(wire.HeaderSize+len(c.hs.message), c.peer, c.local)
	h := wire.ControlHeader{Type: wire.CtrlHandshake, Timestamp: c.timestamp(now)}
	if c.hs.responder {
		h.Dest = c.peerID
	}
	h.Put(p)
	copy(p[wire.HeaderSize:], c.hs.message)
	c.noteControl(now, RecHandshake, RecSent, 0, h.Timestamp)
	c.live.said(now)
}

// handleHandshake takes a handshake message addressed to this connection.
func (c *Conn) handleHandshake(now mono.Time, h wire.ControlHeader, content []byte) {
	m, err := wire.ParseHandshake(content)
	if err != nil {
		c.stats.badPackets++
		return
	}
	c.noteControl(now, RecHandshake, 0, 0, h.Timestamp)
	switch c.state {
	case stateInduction:
		c.handleInduction(now, &m)
	case stateConclusion:
		c.handleConclusion(now, h.Timestamp, &m)
	default: // a repetition: already connected
	}
}
