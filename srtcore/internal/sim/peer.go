package sim

import (
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// Peer is a node that says exactly what a test tells it to, and keeps what it
// hears. Helpers build the packets of a caller.
type Peer struct {
	World *World
	Addr  netip.AddrPort
	To    netip.AddrPort

	ID       wire.SocketID // own
	RemoteID wire.SocketID // learnt from the conclusion response
	Cookie   uint32
	InitSeq  seq.Number
	// Epoch is when time stamp StampBase was.
	Epoch     mono.Time
	StampBase wire.Timestamp

	Heard []Heard
	// OnPacket, if set, sees each datagram as it comes.
	OnPacket func(Heard)
	// AnswerACK makes the Peer answer full ACKs with ACKACK.
	AnswerACK bool
}

// Heard is a datagram that came to a Peer.
type Heard struct {
	Packet
	At   mono.Time
	From netip.AddrPort
}

// NewPeer adds a Peer at addr that talks to another address.
func (w *World) NewPeer(addr string, to netip.AddrPort) *Peer {
	p := &Peer{
		World: w, Addr: netip.MustParseAddrPort(addr), To: to, Epoch: w.Now,
		ID: 0x1234567, InitSeq: 1000,
	}
	w.add(p, p.Addr)
	return p
}

func (p *Peer) deliver(now mono.Time, from, _ netip.AddrPort, data []byte) {
	h := Heard{Packet{Data: data}, now, from}
	p.Heard = append(p.Heard, h)
	p.learn(h)
	if p.OnPacket != nil {
		p.OnPacket(h)
	}
}

func (p *Peer) timeout(mono.Time) {}
func (p *Peer) drain(mono.Time)   {}
func (p *Peer) next() mono.Time   { return mono.Never }

func (p *Peer) learn(h Heard) {
	if hs, ok := h.Handshake(); ok {
		switch hs.Type {
		case wire.HSInduction:
			p.Cookie = hs.Cookie
		case wire.HSConclusion:
			p.RemoteID = hs.SocketID
		}
	}
	if t, ok := h.Control(); ok && t == wire.CtrlACK && p.AnswerACK && len(h.Data) > wire.HeaderSize+4 {
		c, _, _ := wire.ParseControl(h.Data)
		p.Control(wire.CtrlACKACK, c.Info, make([]byte, 4))
	}
}

// Stamp is the Peer's time stamp of now.
func (p *Peer) Stamp() wire.Timestamp { return p.StampAt(p.World.Now) }

// StampAt is the Peer's time stamp of another instant.
func (p *Peer) StampAt(t mono.Time) wire.Timestamp {
	return p.StampBase + wire.Timestamp(t.Sub(p.Epoch).Microseconds())
}

// Raw sends a datagram as it is.
func (p *Peer) Raw(data []byte) { p.World.Link(p.Addr, p.To).send(p.World.Now, data) }

// Control sends a control packet to the connection.
func (p *Peer) Control(t wire.ControlType, info uint32, content []byte) {
	b := make([]byte, wire.HeaderSize, wire.HeaderSize+len(content))
	wire.ControlHeader{Type: t, Info: info, Timestamp: p.Stamp(), Dest: p.RemoteID}.Put(b)
	p.Raw(append(b, content...))
}

// Handshake sends a handshake to socket id 0.
func (p *Peer) Handshake(hs wire.Handshake) {
	b := make([]byte, wire.HeaderSize, 512)
	wire.ControlHeader{Type: wire.CtrlHandshake, Timestamp: p.Stamp()}.Put(b)
	p.Raw(hs.Append(b))
}

// Hello returns a handshake of the Peer with the fields every caller sends.
func (p *Peer) Hello(t wire.HSType) wire.Handshake {
	hs := wire.Handshake{
		Version: 5, InitSeq: p.InitSeq, MSS: 1500, FlowWindow: 8192, Type: t,
		SocketID: p.ID, Cookie: p.Cookie, PeerIP: wire.PeerIP(p.To.Addr()),
	}
	if t == wire.HSInduction {
		hs.Version, hs.ExtField, hs.Cookie = 4, 2, 0
	}
	return hs
}

// LiveExt is the HSREQ of a live caller with these latencies.
func LiveExt(rcv, snd time.Duration) wire.HSExt {
	return wire.HSExt{
		Version: 0x010505,
		Flags: wire.FlagTSBPDSnd | wire.FlagTSBPDRcv | wire.FlagCrypt | wire.FlagTLPktDrop |
			wire.FlagPeriodicNAK | wire.FlagRexmit,
		RcvTSBPDDelayMs: uint16(rcv.Milliseconds()), SndTSBPDDelayMs: uint16(snd.Milliseconds()),
	}
}

// Induce does the first round trip: it learns the cookie.
func (p *Peer) Induce() bool {
	p.Handshake(p.Hello(wire.HSInduction))
	return p.World.RunUntil(time.Second, func() bool { return p.Cookie != 0 })
}

// Conclude sends the conclusion with these extension bytes.
func (p *Peer) Conclude(extField uint16, exts []byte) {
	hs := p.Hello(wire.HSConclusion)
	hs.ExtField, hs.Exts = extField, exts
	p.Handshake(hs)
}

// Connect does the whole handshake with a latency and reports success.
func (p *Peer) Connect(latency time.Duration) bool {
	if !p.Induce() {
		return false
	}
	ext := LiveExt(latency, latency)
	p.Conclude(wire.ExtFieldHSReq, ext.Append(nil, wire.ExtHSReq))
	return p.World.RunUntil(time.Second, func() bool { return p.RemoteID != 0 })
}

// Data sends data packet number index of the Peer: sequence and message number
// follow from it.
func (p *Peer) Data(index int, stamp wire.Timestamp, rexmit bool, payload []byte) {
	b := make([]byte, wire.HeaderSize, wire.HeaderSize+len(payload))
	wire.DataHeader{
		Seq: p.InitSeq.Add(index), PP: wire.PPSolo, Rexmit: rexmit, MsgNo: seq.MsgNo(index + 1),
		Timestamp: stamp, Dest: p.RemoteID,
	}.Put(b)
	p.Raw(append(b, payload...))
}

// Replies returns the answers to the Peer's conclusions, in order.
func (p *Peer) Replies() []wire.Handshake {
	var out []wire.Handshake
	for _, h := range p.Heard {
		if hs, ok := h.Handshake(); ok && hs.Type != wire.HSInduction {
			out = append(out, hs)
		}
	}
	return out
}

// Count returns how many packets of a control type came.
func (p *Peer) Count(t wire.ControlType) int {
	n := 0
	for _, h := range p.Heard {
		if c, ok := h.Control(); ok && c == t {
			n++
		}
	}
	return n
}
