package engine

import (
	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// controlQueue is what the connection has to say besides data. Flags, not
// packets: a packet is built when it is sent, with the values of that moment.
type controlQueue struct {
	asked
	ackacks []uint32 // ACK numbers to answer
}

// asked has a flag for everything a connection may have to say but NAKs. It is
// compared with its zero value as one word: most visits find nothing.
type asked struct {
	handshake bool
	keepAlive bool
	shutdown  bool
	lightACK  bool
	fullACK   bool
	kmReq     bool // km.refresh.message
	kmRsp     bool // km.answer
	lists     bool // something in ackacks or sndLoss.gone
}

// maxQueued bounds each list, so that a flood of control packets cannot make
// this side say more than that many answers a turn.
const maxQueued = 64

// pollControl appends the queued control packets.
func (c *Conn) pollControl(now mono.Time, b *dgram.Batch) {
	q := &c.ctl
	if q.asked == (asked{}) && !c.rcv.loss.pending {
		return
	}
	if c.state == stateDead || c.state == stateEnding {
		if q.shutdown {
			q.shutdown = false
			c.addEmpty(now, b, wire.CtrlShutdown, 0)
		}
		return
	}
	if c.state < stateConnected {
		return
	}
	c.pollKM(now, b)
	c.pollNAK(now, b)
	c.pollACK(now, b)
	if q.lists {
		q.lists = false
		c.pollLists(now, b)
	}
	if q.keepAlive {
		q.keepAlive = false
		c.addEmpty(now, b, wire.CtrlKeepAlive, 0)
	}
}

// pollLists answers ACKs, and requests for what is no longer held.
func (c *Conn) pollLists(now mono.Time, b *dgram.Batch) {
	for _, n := range c.ctl.ackacks {
		c.addEmpty(now, b, wire.CtrlACKACK, n)
	}
	c.ctl.ackacks = c.ctl.ackacks[:0]
	gone := c.snd.loss.gone
	for _, r := range gone {
		c.noteDropReq(now, r)
		r.PutDropReq(c.addControl(now, b, wire.ControlHeader{Type: wire.CtrlDropReq}, wire.DropReqSize))
	}
	c.snd.loss.gone = gone[:0]
}

// addControl appends a control packet with n bytes of content and returns the
// content to be filled. Type, Subtype and Info are taken from h.
func (c *Conn) addControl(now mono.Time, b *dgram.Batch, h wire.ControlHeader, n int) []byte {
	h.Timestamp = c.timestamp(now)
	h.Dest = c.peerID
	p := b.AddControl(wire.HeaderSize+n, c.peer, c.local)
	h.Put(p)
	if c.rcv.rec != nil {
		c.noteSent(now, h)
	}
	c.live.said(now)
	return p[wire.HeaderSize:]
}

// addEmpty appends a control packet that has nothing to say.
func (c *Conn) addEmpty(now mono.Time, b *dgram.Batch, t wire.ControlType, info uint32) {
	clear(c.addControl(now, b, wire.ControlHeader{Type: t, Info: info}, wire.EmptyContentSize))
}
