package engine

import (
	"bytes"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// ownVersion is the SRT version this side claims: the libsrt whose behaviour on
// the wire it follows.
const ownVersion = 0x010505

// MaxStreamID is the longest stream id in bytes.
const MaxStreamID = 512

// minMSS leaves room for a payload behind all headers.
const minMSS = 76

// helloExts is what the extensions of a conclusion say, checked.
type helloExts struct {
	hs         wire.HSExt
	streamID   string
	congestion string
	km         []byte // KMREQ or KMRSP content; nil: none
	group      bool
}

// parseHello reads the extensions of a conclusion in whatever order they come;
// hsType is the one that must be there (draft section 3.2.1.1).
func (e *Endpoint) parseHello(h *wire.Handshake, hsType, kmType wire.ExtType) (helloExts, bool) {
	var out helloExts
	exts, err := wire.ParseExtensions(h.Exts, e.exts[:0])
	e.exts = exts[:0]
	if err != nil || h.ExtField&wire.ExtFieldHSReq == 0 {
		return out, false
	}
	seen := false
	for _, x := range exts {
		switch x.Type {
		case hsType:
			out.hs, err = wire.ParseHSExt(x.Content)
			if seen || err != nil {
				return out, false
			}
			seen = true
		case kmType:
			out.km = bytes.Clone(x.Content)
		case wire.ExtSID:
			out.streamID = wire.DecodeString(x.Content)
			if len(x.Content) == 0 || len(out.streamID) > MaxStreamID {
				return out, false
			}
		case wire.ExtCongestion:
			out.congestion = wire.DecodeString(x.Content)
		case wire.ExtGroup:
			out.group = true
		default: // unknown but well framed
		}
	}
	return out, seen
}

// refuseHello names what this side cannot agree to, or 0.
func refuseHello(cfg *Config, h *wire.Handshake, x *helloExts) wire.RejectReason {
	switch {
	case h.MSS < minMSS || h.FlowWindow < 2 || h.InitSeq >= seq.Max || h.SocketID == 0:
		return wire.RejRogue
	case x.hs.Version < cfg.MinVersion:
		return wire.RejVersion
	case x.hs.Flags&wire.FlagStream != 0:
		return wire.RejMessageAPI
	case x.congestion != "" && x.congestion != "live":
		return wire.RejCongestion
	case x.group:
		return wire.RejGroup
	}
	return 0
}

// ownFlags returns the flags of this side's HSREQ or HSRSP.
func (c *Conn) ownFlags() wire.HSFlags {
	f := wire.FlagCrypt | wire.FlagRexmit
	if c.cfg.NAKReport {
		f |= wire.FlagPeriodicNAK
	}
	if c.cfg.TSBPD {
		f |= wire.FlagTSBPDSnd | wire.FlagTSBPDRcv
	}
	// libsrt's initiator says TLPKTDROP with TSBPD only, its responder always.
	if c.cfg.TLPktDrop && (c.cfg.TSBPD || c.hs.responder) {
		f |= wire.FlagTLPktDrop
	}
	if c.hs.responder && c.cfg.TSBPD {
		f &^= wire.FlagTSBPDSnd
	}
	if c.hs.responder && c.peerFlags&wire.FlagTSBPDRcv != 0 {
		f |= wire.FlagTSBPDSnd
	}
	return f
}

// hsReq returns this side's HSREQ: its wishes.
func (c *Conn) hsReq() wire.HSExt {
	x := wire.HSExt{Version: ownVersion, Flags: c.ownFlags()}
	if c.cfg.TSBPD {
		x.RcvTSBPDDelayMs = delayMs(c.cfg.RcvLatency)
		x.SndTSBPDDelayMs = delayMs(c.cfg.PeerLatency)
	}
	return x
}

// hsRsp returns this side's HSRSP: the results, as this side sees them.
func (c *Conn) hsRsp() wire.HSExt {
	x := wire.HSExt{Version: ownVersion, Flags: c.ownFlags()}
	if c.cfg.TSBPD {
		x.RcvTSBPDDelayMs = delayMs(c.rcvDelay)
	}
	if c.peerFlags&wire.FlagTSBPDRcv != 0 {
		x.SndTSBPDDelayMs = delayMs(c.peerDelay)
	}
	return x
}

func delayMs(d time.Duration) uint16 {
	return uint16(min(d.Milliseconds(), 0xFFFF))
}

// agree takes over what both sides' conclusions say. arrival and ts belong to
// the peer's conclusion: they are the TSBPD time base.
func (c *Conn) agree(arrival mono.Time, ts wire.Timestamp, h *wire.Handshake, x *helloExts) {
	c.peerID = h.SocketID
	c.peerVersion = x.hs.Version
	c.peerFlags = x.hs.Flags
	c.mss = min(c.cfg.MSS, int(min(h.MSS, 1500)))
	// Each direction waits as long as the longer of the two wishes says.
	c.rcvDelay = max(c.cfg.RcvLatency, msDelay(x.hs.SndTSBPDDelayMs))
	c.peerDelay = max(c.cfg.PeerLatency, msDelay(x.hs.RcvTSBPDDelayMs))
	if x.hs.Flags&wire.FlagTSBPDSnd != 0 && c.cfg.TSBPD {
		c.rcv.tsbpd.start(arrival, ts, c.rcvDelay)
	}
	c.snd.init(c, c.initSeq, int(min(h.FlowWindow, maxFlight)))
	c.snd.tail.stop()
	c.rcv.init(c, c.initSeq)
	c.state = stateConnected
	c.live.init(arrival)
	c.noteConnected(arrival)
}

func msDelay(ms uint16) time.Duration { return time.Duration(ms) * time.Millisecond }

// flowWindow is the window this side offers in its handshake, in packets.
func (cfg *Config) flowWindow() uint32 {
	return uint32(max(min(cfg.FlowWindow, cfg.RcvBufPkts), 2))
}
