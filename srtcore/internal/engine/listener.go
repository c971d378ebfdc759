package engine

import (
	"io"
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// listener answers callers. Up to the conclusion it keeps nothing of them: the
// SYN cookie says that a caller received what was sent to its address.
type listener struct {
	cfg     Config
	backlog int
	epoch   mono.Time
	secret  [32]byte
	pending map[peerKey]*Request // waiting for Accept or Reject
	retired bool                 // nobody may begin a handshake
}

// peerKey names a connection as its caller does.
type peerKey struct {
	addr netip.AddrPort
	id   wire.SocketID
}

// pendingLimit bounds the time a request waits for a decision.
const pendingLimit = 30 * time.Second

// Listen makes the Endpoint answer callers; at most backlog requests wait for a
// decision at a time.
func (e *Endpoint) Listen(cfg *Config, backlog int) {
	l := &listener{cfg: *cfg, backlog: max(backlog, 1), pending: make(map[peerKey]*Request)}
	_, _ = io.ReadFull(e.rand, l.secret[:])
	e.lis = l
}

// RetireListener answers no caller that begins a handshake any more.
func (e *Endpoint) RetireListener() {
	if e.lis != nil {
		e.lis.retired = true
	}
}

// StopListening makes the Endpoint deaf to callers; connections go on.
func (e *Endpoint) StopListening() { e.lis = nil }

// Listening reports whether callers are answered.
func (e *Endpoint) Listening() bool { return e.lis != nil }

// handleRequest takes a datagram for socket id 0: a handshake or nothing.
func (e *Endpoint) handleRequest(now mono.Time, d dgram.In) *Conn {
	h, content, err := wire.ParseControl(d.Buf.Bytes())
	if err != nil || h.Type != wire.CtrlHandshake {
		e.counters.BadHandshake++
		return nil
	}
	m, err := wire.ParseHandshake(content)
	// An answer to socket id 0 would be a request to another listener, whose
	// answer would be one to this.
	if err != nil || m.SocketID == 0 {
		e.counters.BadHandshake++
		return nil
	}
	if e.lis == nil {
		return e.answerLate(now, &m, d)
	}
	switch m.Type {
	case wire.HSInduction:
		if !e.lis.retired {
			e.answerInduction(now, &m, d)
		}
	case wire.HSConclusion:
		return e.answerConclusion(now, h.Timestamp, &m, d)
	default:
		e.counters.BadHandshake++
	}
	return nil
}

// answerLate serves who was accepted before the listener ended and has not
// heard of it: its conclusion gets its answer again. Nobody else is answered.
func (e *Endpoint) answerLate(now mono.Time, m *wire.Handshake, d dgram.In) *Conn {
	c := e.accepted.find(d.From, m.SocketID)
	if c == nil || m.Type != wire.HSConclusion || m.InitSeq != c.initSeq {
		e.counters.NotListening++
		return nil
	}
	c.repeatedConclusion(now, m)
	return c
}

// answerInduction sends the cookie, and forgets the caller.
func (e *Endpoint) answerInduction(now mono.Time, m *wire.Handshake, d dgram.In) {
	rsp := *m
	rsp.Exts = nil
	rsp.Version = 5
	rsp.EncField = uint16(e.lis.cfg.PBKeyLen / 8)
	rsp.ExtField = wire.HSMagic
	rsp.Cookie = e.lis.cookie(now, d.From)
	rsp.MSS = min(m.MSS, uint32(e.lis.cfg.MSS))
	e.replyHandshake(now, &rsp, m.SocketID, d.From, d.To)
}

// answerConclusion checks a conclusion and asks for a decision about it. A
// repetition gets the same answer again from the connection it made.
func (e *Endpoint) answerConclusion(now mono.Time, ts wire.Timestamp, m *wire.Handshake, d dgram.In) *Conn {
	if !e.lis.validCookie(now, d.From, m.Cookie) {
		e.counters.BadCookie++
		return nil
	}
	key := peerKey{d.From, m.SocketID}
	if c := e.accepted.find(d.From, m.SocketID); c != nil {
		c.repeatedConclusion(now, m)
		return c
	}
	if e.lis.pending[key] != nil {
		return nil
	}
	r := &Request{Peer: d.From, Local: d.To, SocketID: m.SocketID, hs: *m, at: e.arrived, ts: ts}
	if reason := e.checkRequest(m, r); reason != 0 {
		e.refuse(now, r, reason)
		return nil
	}
	r.hs.Exts = nil // a view of the datagram
	e.lis.pending[key] = r
	e.events = append(e.events, Event{Kind: EventRequest, Request: r})
	return nil
}

// repeatedConclusion answers a conclusion again, or makes way for a caller that
// began anew with the same id, and will ask again. There is no SHUTDOWN: it
// would reach the new one.
func (c *Conn) repeatedConclusion(now mono.Time, m *wire.Handshake) {
	c.check.mutate(now)
	if c.initSeq == m.InitSeq {
		c.ctl.handshake = true
		return
	}
	c.die(ErrPeerShutdown)
}

// checkRequest reads the extensions into r and names what forbids them, or 0.
func (e *Endpoint) checkRequest(m *wire.Handshake, r *Request) wire.RejectReason {
	if m.Version < 5 {
		return wire.RejVersion
	}
	x, ok := e.parseHello(m, wire.ExtHSReq, wire.ExtKMReq)
	if !ok {
		return wire.RejRogue
	}
	if reason := refuseHello(&e.lis.cfg, m, &x); reason != 0 {
		return reason
	}
	if len(e.lis.pending) >= e.lis.backlog {
		return wire.RejBacklog
	}
	r.exts = x
	r.StreamID, r.PeerVersion = x.streamID, x.hs.Version
	if km, err := wire.ParseKeyMaterial(x.km); err == nil {
		r.Encrypted, r.PeerKeyLen = true, km.KeyLen
	}
	return 0
}

// Reject refuses a request with the given reason.
func (e *Endpoint) Reject(now mono.Time, r *Request, reason wire.RejectReason) {
	if e.settle(r) {
		e.refuse(now, r, reason)
	}
}

// settle marks a request as decided; false if it was already, or timed out.
func (e *Endpoint) settle(r *Request) bool {
	if r.done {
		return false
	}
	r.done = true
	if e.lis != nil {
		delete(e.lis.pending, peerKey{r.Peer, r.SocketID})
	}
	return true
}

// refuse sends the request back with the reason as its type.
func (e *Endpoint) refuse(now mono.Time, r *Request, reason wire.RejectReason) {
	m := r.hs
	m.Exts = nil
	m.Type = wire.HSType(reason)
	m.SocketID = e.newSocketID()
	e.replyHandshake(now, &m, r.SocketID, r.Peer, r.Local)
}

// Accept makes a connection of the request; cfg may hold a passphrase of this
// caller's own. A *RejectError says that the keys do not fit; the caller was
// told.
func (e *Endpoint) Accept(now mono.Time, r *Request, cfg *Config) (*Conn, error) {
	if !e.settle(r) {
		return nil, ErrConnTimeout
	}
	c := e.newConn(now, cfg, r.Peer)
	c.hs.responder = true
	c.local = r.Local
	c.initSeq = r.hs.InitSeq
	c.streamID = r.StreamID
	rsp, reason := c.takeKMReq(r)
	if reason != 0 {
		e.refuse(now, r, reason)
		return nil, &RejectError{Reason: reason}
	}
	c.agree(r.at, r.ts, &r.hs, &r.exts)
	c.live.init(now)
	c.buildResponse(&r.hs, rsp)
	c.ctl.handshake = true
	e.accepted.replaceSilent(now, r.Peer)
	e.add(c)
	e.accepted.add(c)
	return c, nil
}

// takeKMReq reads the caller's key material and returns the KMRSP content (nil:
// none) or the reason to refuse.
func (c *Conn) takeKMReq(r *Request) (rsp []byte, reason wire.RejectReason) {
	req := r.exts.km
	own := c.cfg.Passphrase != ""
	switch {
	case req == nil && !own:
		return nil, 0
	case req == nil || !own:
		return c.oneSided(own)
	}
	m, err := wire.ParseKeyMaterial(req)
	if err != nil {
		return nil, wire.RejRogue
	}
	if m.Cipher != wire.CipherAESCTR || m.Auth != wire.AuthNone {
		return nil, wire.RejCryptoMode
	}
	if err := c.km.accept(&m, r.keyFor(c.cfg.Passphrase)); err != nil {
		c.km = km{sndState: wire.KMBadSecret, rcvState: wire.KMBadSecret}
		c.km.init()
		if c.cfg.EnforcedEnc {
			return nil, wire.RejBadSecret
		}
		return wire.AppendKMState(nil, wire.KMBadSecret), c.lockOut()
	}
	c.km.sndState, c.km.rcvState = wire.KMSecured, wire.KMSecured
	return req, 0
}

// oneSided: only one side has a secret.
func (c *Conn) oneSided(own bool) (rsp []byte, reason wire.RejectReason) {
	if c.cfg.EnforcedEnc {
		return nil, wire.RejUnsecure
	}
	if own {
		c.km.sndState = wire.KMNoSecret
		return wire.AppendKMState(nil, wire.KMUnsecured), c.lockOut()
	}
	c.km.rcvState = wire.KMNoSecret
	return wire.AppendKMState(nil, wire.KMNoSecret), 0
}

// lockOut makes a key that the peer does not get: a side that has a passphrase
// never sends in the clear, even where it puts up with a peer that cannot read.
func (c *Conn) lockOut() wire.RejectReason {
	if _, err := c.generateKey(); err != nil {
		return wire.RejResource
	}
	return 0
}

// buildResponse builds the answer that is sent now and at each repetition of
// the conclusion.
func (c *Conn) buildResponse(req *wire.Handshake, kmRsp []byte) {
	m := *req
	m.MSS, m.FlowWindow = uint32(c.mss), c.cfg.flowWindow()
	m.SocketID = c.id
	m.EncField = uint16(c.cfg.PBKeyLen / 8)
	m.PeerIP = wire.PeerIP(c.peer.Addr())
	m.ExtField = wire.ExtFieldHSReq
	m.Exts = c.hsRsp().Append(nil, wire.ExtHSRsp)
	if kmRsp != nil {
		m.ExtField |= wire.ExtFieldKMReq
		m.Exts = wire.AppendExtension(m.Exts, wire.ExtKMRsp, kmRsp)
	}
	c.hs.message = m.Append(nil)
}

func (e *Endpoint) replyHandshake(now mono.Time, m *wire.Handshake, dest wire.SocketID, to netip.AddrPort, from netip.Addr) {
	h := wire.ControlHeader{Type: wire.CtrlHandshake, Timestamp: e.lis.timestamp(now), Dest: dest}
	data := make([]byte, wire.HeaderSize, wire.HeaderSize+wire.HandshakeSize)
	h.Put(data)
	e.reply(m.Append(data), to, from)
}

func (l *listener) timestamp(now mono.Time) wire.Timestamp {
	if l == nil {
		return 0
	}
	if l.epoch == 0 {
		l.epoch = now
	}
	return wire.Timestamp(now.Sub(l.epoch) / time.Microsecond)
}

// advance forgets requests that nobody decided about.
func (l *listener) advance(now mono.Time) {
	for key, r := range l.pending {
		if now.Sub(r.at) >= pendingLimit {
			r.done = true
			delete(l.pending, key)
		}
	}
}

func (l *listener) nextDeadline() mono.Time {
	t := mono.Never
	for _, r := range l.pending {
		t = mono.Min(t, r.at.Add(pendingLimit))
	}
	return t
}
