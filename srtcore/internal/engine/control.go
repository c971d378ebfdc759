package engine

import (
	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// controlQueue is what the connection has to say besides data. Flags, not
// packets: a packet is built when it is sent, with the values of that moment.
type controlQueue struct {
	keepAlive bool
	shutdown  bool
	lightACK  bool
	fullACK   bool
	ackacks   []uint32        // ACK numbers to answer
	dropReqs  []wire.SeqRange // ranges the peer asked for in vain
	kmRsp     []byte          // KMRSP content to send
	kmReq     bool            // send km.announce
}

// maxQueued bounds each list, so that a flood of control packets cannot make
// this side say more than that many answers a turn.
const maxQueued = 64

// pollControl appends the queued control packets.
func (c *Conn) pollControl(now mono.Time, b *dgram.Batch) {
	q := &c.ctl
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
	for _, n := range q.ackacks {
		c.addEmpty(now, b, wire.CtrlACKACK, n)
	}
	q.ackacks = q.ackacks[:0]
	for _, r := range q.dropReqs {
		r.PutDropReq(c.addControl(now, b, wire.ControlHeader{Type: wire.CtrlDropReq}, wire.DropReqSize))
	}
	q.dropReqs = q.dropReqs[:0]
	if q.keepAlive {
		q.keepAlive = false
		c.addEmpty(now, b, wire.CtrlKeepAlive, 0)
	}
}

// addControl appends a control packet with n bytes of content and returns the
// content to be filled. Type, Subtype and Info are taken from h.
func (c *Conn) addControl(now mono.Time, b *dgram.Batch, h wire.ControlHeader, n int) []byte {
	h.Timestamp = c.timestamp(now)
	h.Dest = c.peerID
	p := b.AddControl(wire.HeaderSize+n, c.peer, c.local)
	h.Put(p)
	c.live.said(now)
	return p[wire.HeaderSize:]
}

// addEmpty appends a control packet that has nothing to say.
func (c *Conn) addEmpty(now mono.Time, b *dgram.Batch, t wire.ControlType, info uint32) {
	clear(c.addControl(now, b, wire.ControlHeader{Type: t, Info: info}, wire.EmptyContentSize))
}
