package engine

import (
	"bytes"
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// Dial begins a connection to peer as the caller (draft section 4.3.1). The
// answer is EventConnected or EventClosed with the reason.
func (e *Endpoint) Dial(now mono.Time, cfg *Config, peer netip.AddrPort) *Conn {
	c := e.newConn(now, cfg, peer)
	c.streamID = cfg.StreamID
	c.mss = cfg.MSS
	c.initSeq = cfg.InitSeq
	if !cfg.ForceInitSeq {
		// 0x7FFFFFFF is legal but libsrt does not answer it.
		c.initSeq = seq.Number(e.randUint32()) % seq.Max
	}
	c.state = stateInduction
	c.ctl.handshake = true
	c.hs = handshake{next: now.Add(handshakeRepeat), giveUp: now.Add(cfg.ConnTimeout)}
	m := c.request(wire.HSInduction)
	m.Version = 4
	m.ExtField = 2 // the draft's fixed value in an induction request
	c.hs.message = m.Append(nil)
	e.add(c)
	return c
}

// request returns the fields that all of the caller's requests share.
func (c *Conn) request(t wire.HSType) wire.Handshake {
	return wire.Handshake{
		Version: 5, InitSeq: c.initSeq, MSS: uint32(c.cfg.MSS), FlowWindow: c.cfg.flowWindow(),
		Type: t, SocketID: c.id, Cookie: c.hs.cookie, PeerIP: wire.PeerIP(c.peer.Addr()),
	}
}

// handleInduction takes the listener's cookie and goes on to the conclusion.
func (c *Conn) handleInduction(now mono.Time, m *wire.Handshake) {
	switch {
	case m.Type.IsReject():
		c.die(&RejectError{Reason: wire.RejectReason(m.Type), Remote: true})
	case m.Type != wire.HSInduction:
		c.stats.badPackets++
	case m.Version < 5 || m.ExtField != wire.HSMagic:
		c.die(&RejectError{Reason: wire.RejVersion}) // an HSv4 listener
	default:
		c.hs.cookie, c.hs.encField = m.Cookie, m.EncField
		if err := c.startConclusion(now); err != nil {
			c.die(err)
		}
	}
}

// startConclusion builds the conclusion request once; repetitions are the same
// but for the time stamp.
func (c *Conn) startConclusion(now mono.Time) error {
	m := c.request(wire.HSConclusion)
	m.ExtField = wire.ExtFieldHSReq
	m.Exts = c.hsReq().Append(nil, wire.ExtHSReq)
	if c.cfg.StreamID != "" {
		m.ExtField |= wire.ExtFieldConfig
		m.Exts = wire.AppendString(m.Exts, wire.ExtSID, c.cfg.StreamID)
	}
	if c.cfg.Passphrase != "" {
		km, err := c.generateKey()
		if err != nil {
			return err
		}
		c.hs.kmReq = km
		if c.cfg.PBKeyLen != 0 || c.hs.encField != 0 {
			m.EncField = uint16(c.km.keyLen / 8) // 0 says: nobody chose
		}
		m.ExtField |= wire.ExtFieldKMReq
		m.Exts = wire.AppendExtension(m.Exts, wire.ExtKMReq, km)
	}
	c.hs.message = m.Append(nil)
	c.state = stateConclusion
	c.ctl.handshake = true
	c.hs.next = now.Add(handshakeRepeat)
	return nil
}

// keyLen: a listener that has set its length decides, then the caller, else 16.
func (c *Conn) keyLen() int {
	if n := int(c.hs.encField) * 8; n == 16 || n == 24 || n == 32 {
		return n
	}
	if c.cfg.PBKeyLen != 0 {
		return c.cfg.PBKeyLen
	}
	return 16
}

// handleConclusion takes the listener's answer.
func (c *Conn) handleConclusion(now mono.Time, ts wire.Timestamp, m *wire.Handshake) {
	if m.Type.IsReject() {
		c.die(&RejectError{Reason: wire.RejectReason(m.Type), Remote: true})
		return
	}
	if m.Type != wire.HSConclusion {
		return // a repeated induction response
	}
	x, ok := c.ep.parseHello(m, wire.ExtHSRsp, wire.ExtKMRsp)
	reason := wire.RejRogue
	if ok && m.Version == 5 && m.InitSeq == c.initSeq {
		reason = refuseHello(&c.cfg, m, &x)
	}
	if reason == 0 {
		reason = c.takeKMRsp(x.km)
	}
	if reason != 0 {
		c.refuseResponse(m.SocketID, reason)
		return
	}
	c.hs.message = nil
	c.agree(c.ep.arrived, ts, m, &x)
	c.events = append(c.events, Event{Kind: EventConnected})
}

// refuseResponse leaves a listener that has already accepted: SHUTDOWN to its
// new socket.
func (c *Conn) refuseResponse(peerID wire.SocketID, reason wire.RejectReason) {
	c.peerID = peerID
	c.ctl.shutdown = true
	c.die(&RejectError{Reason: reason})
}

// takeKMRsp reads the listener's word on the key; 0 means go on.
func (c *Conn) takeKMRsp(rsp []byte) wire.RejectReason {
	k := &c.km
	own := c.cfg.Passphrase != ""
	if own && bytes.Equal(rsp, c.hs.kmReq) {
		k.sndState, k.rcvState = wire.KMSecured, wire.KMSecured
		return 0
	}
	if !own && rsp == nil {
		return 0
	}
	state, ok := wire.ParseKMState(rsp)
	reason := wire.RejUnsecure
	switch {
	case own && ok && state == wire.KMBadSecret:
		reason = wire.RejBadSecret
		k.sndState, k.rcvState = wire.KMBadSecret, wire.KMBadSecret
	case own:
		k.sndState = wire.KMNoSecret
	default: // only the listener has a secret
		k.rcvState = wire.KMNoSecret
	}
	if c.cfg.EnforcedEnc {
		return reason
	}
	return 0
}
