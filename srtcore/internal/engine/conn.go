package engine

import (
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// connState is where a connection is in its life.
type connState uint8

const (
	stateInduction  connState = iota // caller: waits for the cookie
	stateConclusion                  // caller: waits for the response
	stateConnected
	stateClosing // this side closes: drains, then SHUTDOWN
	stateEnding  // the peer is gone: what was received is still delivered
	stateDead
)

// Conn is one SRT connection. It is a bag of small states, each with its own
// file and its own next deadline.
//
// The order of the fields is that of their use: a loop visits hundreds of
// connections that left the caches since the last time, so that what a visit
// costs is the cache lines it touches (decision 0012, lines_test.go). Within the
// states, too, what every packet needs comes first.
type Conn struct {
	// User belongs to whoever drives the Conn.
	User  any
	peer  netip.AddrPort
	id    wire.SocketID
	state connState
	// held: a message is ready but the last PollMessages had no room for it, so
	// its time is no deadline.
	held bool

	ep     *Endpoint
	live   liveness
	events []Event
	ctl    controlQueue

	// What outgoing packets need.
	epoch  mono.Time // own time stamps count from here
	peerID wire.SocketID
	base   wire.Timestamp // added to every own time stamp
	local  netip.Addr

	rcv   receiver
	snd   sender
	stats counters
	km    km
	rtt   rtt

	// Negotiated, see negotiate.go.
	mss         int
	initSeq     seq.Number
	peerFlags   wire.HSFlags
	peerVersion uint32
	streamID    string
	rcvDelay    time.Duration // this side's receiver
	peerDelay   time.Duration // the peer's receiver

	hs      handshake
	closing closing
	endErr  error
	cfg     Config
	check   drainCheck
}

func (e *Endpoint) newConn(now mono.Time, cfg *Config, peer netip.AddrPort) *Conn {
	c := &Conn{ep: e, cfg: *cfg, peer: peer, epoch: now, base: cfg.TimestampBase, id: e.newSocketID()}
	c.live.idle = cfg.PeerIdle
	c.rtt.init()
	c.live.init(now)
	c.km.init()
	c.stats.start = now
	c.rcv.rec = newRecorder(cfg.Records)
	return c
}

// handleDatagram takes one datagram of this connection, and its Buf.
func (c *Conn) handleDatagram(now mono.Time, buf *dgram.Buf) {
	c.check.mutate(now)
	b := buf.Bytes()
	if c.state == stateDead {
		c.ep.cache.Put(buf)
		return
	}
	if !wire.IsControl(b) {
		c.handleData(now, buf)
		return
	}
	c.handleControl(now, b)
	c.ep.cache.Put(buf)
}

// handleControl dispatches a control packet by its type.
func (c *Conn) handleControl(now mono.Time, b []byte) {
	h, content, err := wire.ParseControl(b)
	if err != nil {
		c.stats.badPackets++
		return
	}
	if h.Type == wire.CtrlHandshake {
		c.handleHandshake(now, h, content)
		return
	}
	if c.state < stateConnected {
		c.stats.badPackets++
		return
	}
	c.live.heard(now)
	if c.rcv.rec != nil {
		c.noteHeard(now, h)
	}
	switch h.Type {
	case wire.CtrlACK:
		c.handleACK(now, h, content)
	case wire.CtrlNAK:
		c.handleNAK(now, content)
	case wire.CtrlACKACK:
		c.handleACKACK(now, h)
	case wire.CtrlDropReq:
		c.handleDropReq(now, content)
	case wire.CtrlShutdown:
		c.handleShutdown(now)
	case wire.CtrlKeepAlive:
		c.rcv.loss.release()
	case wire.CtrlUserDefined:
		c.handleExt(now, h, content)
	case wire.CtrlCongestionWarning, wire.CtrlPeerError: // not in live mode
	default:
		c.stats.badPackets++
	}
}

// HandleTimeout lets time pass; every mechanism whose deadline came acts.
func (c *Conn) HandleTimeout(now mono.Time) {
	c.check.mutate(now)
	switch c.state {
	case stateDead:
		return
	case stateInduction, stateConclusion:
		c.advanceHandshake(now)
		return
	}
	c.advanceLiveness(now)
	c.advanceACK(now)
	c.advanceNAK(now)
	c.advanceTail(now)
	c.advanceKM(now)
	c.advanceClosing(now)
}

// PollTransmit appends what is due to the batch: handshake, control, then
// retransmissions, then new data. more says that a quantum was used up and
// another call would add further packets.
func (c *Conn) PollTransmit(now mono.Time, b *dgram.Batch) (more bool) {
	if c.ctl.handshake {
		c.pollHandshake(now, b)
	}
	if c.state >= stateConnected && c.state != stateDead {
		more = c.pollData(now, b)
	}
	// Behind the data, because sending may call for a key announcement; the
	// batch sends control first all the same.
	c.pollControl(now, b)
	return more
}

// PollEvent returns the next event.
func (c *Conn) PollEvent() (Event, bool) {
	c.maybeEnd()
	if len(c.events) == 0 {
		return Event{}, false
	}
	ev := c.events[0]
	c.events = c.events[1:]
	return ev, true
}

// PollTimeout returns the earliest deadline of all mechanisms.
func (c *Conn) PollTimeout() mono.Time {
	c.check.drained()
	switch c.state {
	case stateDead:
		return mono.Never
	case stateInduction, stateConclusion:
		return c.hs.nextDeadline()
	}
	t := c.live.nextDeadline(c)
	t = mono.Min(t, c.rcv.nextDeadline(c))
	t = mono.Min(t, c.snd.nextDeadline(c))
	t = mono.Min(t, c.km.nextDeadline())
	return mono.Min(t, c.closing.nextDeadline(c))
}

// Dead reports whether the connection has ended.
func (c *Conn) Dead() bool { return c.state == stateDead }

// die releases everything and says EventClosed, once.
func (c *Conn) die(err error) {
	if c.state == stateDead {
		return
	}
	c.closeRuns(c.live.lastSaid)
	c.state = stateDead
	c.snd.release(c.ep.cache)
	c.rcv.release(c.ep.cache)
	c.ep.remove(c)
	c.events = append(c.events, Event{Kind: EventClosed, Err: err})
}

// timestamp returns now as the peer is to see it (draft section 3).
func (c *Conn) timestamp(now mono.Time) wire.Timestamp { return timestampAt(now, c.epoch, c.base) }

func timestampAt(now, epoch mono.Time, base wire.Timestamp) wire.Timestamp {
	return wire.Timestamp(uint32(now.Sub(epoch)/time.Microsecond)) + base
}

// SocketID returns the own socket id.
func (c *Conn) SocketID() wire.SocketID { return c.id }

// PeerSocketID returns the peer's socket id; 0 before it is known.
func (c *Conn) PeerSocketID() wire.SocketID { return c.peerID }

// Peer returns the peer's address.
func (c *Conn) Peer() netip.AddrPort { return c.peer }

// Local returns the address that was called; invalid if unknown.
func (c *Conn) Local() netip.Addr { return c.local }

// StreamID returns the stream id that the caller gave.
func (c *Conn) StreamID() string { return c.streamID }

// PeerVersion returns the peer's SRT version as 0x00MMmmpp.
func (c *Conn) PeerVersion() uint32 { return c.peerVersion }

// RcvLatency returns the negotiated delay of this side's receiver.
func (c *Conn) RcvLatency() time.Duration { return c.rcvDelay }

// PeerLatency returns the negotiated delay of the peer's receiver.
func (c *Conn) PeerLatency() time.Duration { return c.peerDelay }

// MaxPayload returns the largest message Send takes, in bytes.
func (c *Conn) MaxPayload() int {
	limit := c.mss - wireOverhead
	if c.cfg.PayloadSize > 0 {
		return min(c.cfg.PayloadSize, limit)
	}
	return limit
}

// wireOverhead is what the MSS holds besides the payload: 28 bytes of IP and
// UDP header, 16 of SRT header.
const wireOverhead = 28 + wire.HeaderSize
