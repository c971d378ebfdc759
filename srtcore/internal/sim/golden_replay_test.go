package sim

import (
	"encoding/binary"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
	"github.com/weirline/weirline/tests/golden"
)

// replay puts a Host in the place of one peer of a capture. The other peer's
// datagrams come at the recorded times; what cannot be the same twice (socket
// ids, cookie) is patched. ACKACKs are made afresh, since they answer ACK
// numbers of the recorded run. The Host sends the same messages at the same
// times, and with the recorded salt and keys.
type replay struct {
	t        *testing.T
	c        *golden.Capture
	role     string // golden.Caller or golden.Listener: whose place the Host takes
	in, out  string // directions
	w        *World
	host     *Host
	addr     netip.AddrPort // of the played peer
	begin    mono.Time
	cookie   uint32
	conns    []*replayConn
	sent     []Heard // what the Host sent, times as in the capture
	diff     difference
	compared tally
	unplaced int // datagrams for a connection that is not there
}

// replayConn is one connection of the capture.
type replayConn struct {
	callerID, listenerID wire.SocketID // recorded
	flow                 int
	induction            time.Duration // when the recorded caller sent its first
	initSeq              seq.Number
	session              *Session
	// zero is the capture's time at which the recorded own end's time stamps
	// were 0, as near as the datagrams tell.
	zero time.Duration
	hsTS wire.Timestamp // played peer's handshake with HSREQ or HSRSP ...
	hsAt time.Duration  // ... and when it was sent
}

func newReplay(t *testing.T, c *golden.Capture, role string) *replay {
	r := &replay{t: t, c: c, role: role, in: golden.L2C, out: golden.C2L, w: NewWorld(t, 1)}
	own, other := "127.0.0.1:5001", "127.0.0.1:6002"
	if c.Name == "23-ipv6" || c.Name == "23-ipv6-1456" {
		own, other = "[::1]:5001", "[::1]:6002"
	}
	if role == golden.Listener {
		r.in, r.out = golden.C2L, golden.L2C
		own, other = other, own
	}
	r.host = r.w.NewHost(own)
	r.addr = netip.MustParseAddrPort(other)
	r.begin = r.w.Now
	r.findConns()
	r.prepareHost()
	return r
}

// flowAddr is the played peer's address: another port for another flow.
func (r *replay) flowAddr(flow int) netip.AddrPort {
	return netip.AddrPortFrom(r.addr.Addr(), r.addr.Port()+uint16(flow))
}

// findConns learns the connections of the capture from its handshakes.
func (r *replay) findConns() {
	for _, p := range r.c.SenderView(golden.C2L) {
		hs, ok := handshakeOf(p.Data)
		if !ok || r.byCaller(hs.SocketID) != nil || hs.Type != wire.HSInduction {
			continue
		}
		r.conns = append(r.conns, &replayConn{callerID: hs.SocketID, flow: p.Flow, induction: p.T, initSeq: hs.InitSeq})
	}
	for _, p := range r.c.SenderView(golden.L2C) {
		hs, ok := handshakeOf(p.Data)
		if rc := r.byCaller(wire.Dest(p.Data)); ok && rc != nil && hs.Type == wire.HSConclusion {
			rc.listenerID = hs.SocketID
		}
	}
	for _, rc := range r.conns {
		r.findClock(rc)
	}
}

// findClock sets the connection's own and the played peer's clock.
func (r *replay) findClock(rc *replayConn) {
	rc.zero = 1 << 62
	for _, p := range r.c.SenderView(r.out) {
		if r.ofConn(p) == rc && (r.role == golden.Caller || !ofListenerSocket(p.Data)) {
			since := time.Duration(wire.Stamp(p.Data)) * time.Microsecond
			rc.zero = min(rc.zero, p.T-since)
		}
	}
	for _, p := range r.c.SenderView(r.in) {
		if hs, ok := handshakeOf(p.Data); ok && r.ofConn(p) == rc && hs.Type == wire.HSConclusion && rc.hsAt == 0 {
			rc.hsTS, rc.hsAt = wire.Stamp(p.Data), p.T
		}
	}
}

// ofListenerSocket: sent before there was an accepted socket, which has its own
// clock.
func ofListenerSocket(data []byte) bool {
	hs, ok := handshakeOf(data)
	return ok && hs.Type != wire.HSConclusion
}

func handshakeOf(data []byte) (wire.Handshake, bool) { return (&Packet{Data: data}).Handshake() }

func (r *replay) byCaller(id wire.SocketID) *replayConn {
	for _, rc := range r.conns {
		if rc.callerID == id {
			return rc
		}
	}
	return nil
}

// ofConn returns the connection a recorded datagram belongs to.
func (r *replay) ofConn(p golden.Packet) *replayConn {
	dest := wire.Dest(p.Data)
	if hs, ok := handshakeOf(p.Data); ok && dest == 0 {
		return r.byCaller(hs.SocketID)
	}
	for _, rc := range r.conns {
		if dest != 0 && (rc.callerID == dest || rc.listenerID == dest) {
			return rc
		}
	}
	return nil
}

// prepareHost gives the Host the options of the recorded peer.
func (r *replay) prepareHost() {
	keys := &scriptedKeys{Reader: r.w.entropy()}
	r.host.EP = engine.NewEndpoint(engine.EndpointConfig{Rand: keys, Cache: r.host.cache})
	cfg := optionsOf(&r.c.Meta, r.role)
	if r.role == golden.Listener {
		r.host.ListenConfig = cfg
		backlog := 128
		if acts, ok := r.c.Meta.Raw["actions"].(map[string]any)[r.role].(map[string]any); ok && acts["backlog"] != nil {
			backlog = int(acts["backlog"].(float64))
		}
		r.host.EP.Listen(&r.host.ListenConfig, backlog)
		r.host.OnRequest = r.decide
	}
	keys.queue = r.recordedKeys()
}

// optionsOf translates libsrt's options of a side.
func optionsOf(m *golden.Meta, side string) engine.Config {
	cfg := engine.DefaultConfig()
	ms := func(d *time.Duration, name string) {
		*d = time.Duration(m.IntOption(side, name, int(d.Milliseconds()))) * time.Millisecond
	}
	flag := func(b *bool, name string) { *b = m.IntOption(side, name, 1) != 0 }
	ms(&cfg.RcvLatency, "latency")
	ms(&cfg.PeerLatency, "latency")
	ms(&cfg.RcvLatency, "rcvlatency")
	ms(&cfg.PeerLatency, "peerlatency")
	ms(&cfg.ConnTimeout, "conntimeo")
	ms(&cfg.PeerIdle, "peeridletimeo")
	ms(&cfg.SndDropDelay, "snddropdelay")
	flag(&cfg.TSBPD, "tsbpd")
	flag(&cfg.TLPktDrop, "tlpktdrop")
	flag(&cfg.NAKReport, "nakreport")
	flag(&cfg.EnforcedEnc, "enforcedencryption")
	cfg.LossMaxTTL = m.IntOption(side, "lossmaxttl", 0)
	cfg.RetransmitAlgo = m.IntOption(side, "retransmitalgo", 1)
	cfg.PBKeyLen = m.IntOption(side, "pbkeylen", 0)
	cfg.KMRefresh = m.IntOption(side, "kmrefreshrate", cfg.KMRefresh)
	cfg.KMPreAnn = m.IntOption(side, "kmpreannounce", cfg.KMPreAnn)
	cfg.MSS = m.IntOption(side, "mss", 1500)
	cfg.FlowWindow = m.IntOption(side, "fc", 25600)
	cfg.MaxBW = int64(m.IntOption(side, "maxbw", -1))
	cfg.MinVersion = uint32(m.IntOption(side, "minversion", int(cfg.MinVersion)))
	cfg.Passphrase = m.Passphrase[side]
	if side == golden.Caller {
		cfg.StreamID = m.StreamID
	}
	return cfg
}

// decide does what the recorded listener did with a request.
func (r *replay) decide(req *engine.Request, cfg *engine.Config) (wire.RejectReason, bool) {
	acts, _ := r.c.Meta.Raw["actions"].(map[string]any)[r.role].(map[string]any)
	if acts["accept_hold"] != nil {
		return 0, false
	}
	switch n := r.c.Meta.Actions[r.role].Reject; {
	case n > 0:
		return wire.RejectReason(1000 + n), true
	case n < 0:
		return wire.RejPredefined, true
	}
	if p := r.c.Meta.Actions[r.role].CallbackPassphrase; p != "" {
		cfg.Passphrase = p
	}
	if rc := r.byCaller(req.SocketID); rc != nil {
		cfg.TimestampBase = r.stampAt(rc)
	}
	return 0, true
}

// stampAt is the time stamp that the recorded end would show now.
func (r *replay) stampAt(rc *replayConn) wire.Timestamp {
	return wire.Timestamp((r.w.Now.Sub(r.begin) - rc.zero).Microseconds())
}

// recordedKeys returns what the recorded peer drew: the salt and the first key,
// if it was the caller, and then one key a refresh.
func (r *replay) recordedKeys() (out [][]byte) {
	secret := r.c.Meta.SidePassphrase(r.role)
	seen := map[string]bool{}
	for _, p := range r.c.SenderView(r.out) {
		m, ok := keyMaterialOf(&Packet{Data: p.Data})
		if !ok {
			continue
		}
		keys, err := crypt.UnwrapKeys(crypt.DeriveKEK(secret, m.Salt, m.KeyLen), m.Wrapped)
		if err != nil {
			r.t.Fatalf("recorded key material: %v", err)
		}
		if len(out) == 0 && r.role == golden.Caller {
			out = append(out, m.Salt[:])
		}
		for ; len(keys) > 0; keys = keys[m.KeyLen:] {
			if k := keys[:m.KeyLen]; !seen[string(k)] {
				seen[string(k)] = true
				out = append(out, k)
			}
		}
	}
	if r.role == golden.Listener && len(out) > 1 {
		out = out[1:] // the first is the one the caller made
	}
	return out
}

// scriptedKeys hands out recorded keys where keys are asked for: by the length.
type scriptedKeys struct {
	io.Reader
	queue [][]byte
}

func (s *scriptedKeys) Read(b []byte) (int, error) {
	if len(s.queue) > 0 && len(b) == len(s.queue[0]) {
		n := copy(b, s.queue[0])
		s.queue = s.queue[1:]
		return n, nil
	}
	return s.Reader.Read(b)
}

// run plays the capture to its end and a while longer.
func (r *replay) run() *replay {
	r.w.at[r.addr] = r
	for flow := 1; flow < 4; flow++ {
		r.w.at[r.flowAddr(flow)] = r
	}
	if r.role == golden.Caller {
		for _, rc := range r.conns {
			r.w.After(rc.induction, func() { r.dial(rc) })
		}
	}
	end := time.Duration(0)
	for _, p := range r.c.ReceiverView(r.in) {
		r.w.After(p.Fwd, func() { r.play(p) })
		end = max(end, p.Fwd)
	}
	for _, p := range r.c.SenderView(r.out) {
		end = max(end, p.T)
	}
	r.scheduleSends()
	r.w.RunFor(end + 3*time.Second)
	return r
}

func (r *replay) dial(rc *replayConn) {
	cfg := optionsOf(&r.c.Meta, r.role)
	cfg.ForceInitSeq, cfg.InitSeq = true, rc.initSeq
	cfg.TimestampBase = r.stampAt(rc)
	rc.session = r.host.Dial(cfg, r.flowAddr(rc.flow))
}

// play delivers a recorded datagram to the Host.
func (r *replay) play(p golden.Packet) {
	data := append([]byte(nil), p.Data...)
	pkt := Packet{Data: data}
	if t, ok := pkt.Control(); ok && t == wire.CtrlACKACK {
		return
	}
	rc := r.ofConn(p)
	if !r.address(data, rc) {
		r.unplaced++
		return
	}
	from := r.addr
	if rc != nil {
		from = r.flowAddr(rc.flow)
	}
	r.host.deliver(r.w.Now, from, r.host.Addr, data)
}

// address patches what differs from the recorded run; false if the datagram
// has no receiver.
func (r *replay) address(data []byte, rc *replayConn) bool {
	hs, isHS := handshakeOf(data)
	if r.role == golden.Listener && isHS && wire.Dest(data) == 0 {
		if hs.Type == wire.HSConclusion {
			binary.BigEndian.PutUint32(data[wire.HeaderSize+28:], r.cookie)
		}
		return true
	}
	s := r.sessionOf(rc)
	if s == nil {
		return false
	}
	wire.SetDest(data, s.Conn.SocketID())
	if isHS && hs.Type == wire.HSInduction {
		binary.BigEndian.PutUint32(data[wire.HeaderSize+24:], uint32(s.Conn.SocketID()))
	}
	return true
}

func (r *replay) sessionOf(rc *replayConn) *Session {
	if rc == nil || rc.session != nil {
		if rc == nil {
			return nil
		}
		return rc.session
	}
	for _, s := range r.host.Accepted {
		if s.Request.SocketID == rc.callerID {
			rc.session = s
			return s
		}
	}
	return nil
}

// deliver takes what the Host sent. The replay is a node of the World.
func (r *replay) deliver(now mono.Time, _, to netip.AddrPort, data []byte) {
	r.sent = append(r.sent, Heard{Packet: Packet{Data: data}, At: now})
	if hs, ok := handshakeOf(data); ok && hs.Type == wire.HSInduction && r.role == golden.Listener {
		r.cookie = hs.Cookie
	}
	h, content, err := wire.ParseControl(data)
	if err == nil && h.Type == wire.CtrlACK && len(content) > 4 {
		r.answerACK(h, to)
	}
}

// answerACK sends an ACKACK after the recorded path's round trip.
func (r *replay) answerACK(h wire.ControlHeader, from netip.AddrPort) {
	rc := r.bySession(h.Dest)
	if rc == nil || rc.session == nil {
		return
	}
	delay := time.Duration(1000*(r.c.Meta.Relay.DelayMs[0]+r.c.Meta.Relay.DelayMs[1])) * time.Microsecond
	r.w.After(delay, func() {
		b := make([]byte, wire.HeaderSize+4)
		sentAt := r.w.Now.Sub(r.begin) - delay/2
		stamp := rc.hsTS + wire.Timestamp((sentAt - rc.hsAt).Microseconds())
		wire.ControlHeader{Type: wire.CtrlACKACK, Info: h.Info, Timestamp: stamp, Dest: rc.session.Conn.SocketID()}.Put(b)
		r.host.deliver(r.w.Now, from, r.host.Addr, b)
	})
}

// bySession returns the connection whose played end has this id.
func (r *replay) bySession(id wire.SocketID) *replayConn {
	for _, rc := range r.conns {
		if id != 0 && (r.role == golden.Caller && id == rc.listenerID || r.role == golden.Listener && id == rc.callerID) {
			return rc
		}
	}
	return nil
}

func (r *replay) timeout(mono.Time) {}
func (r *replay) drain(mono.Time)   {}
func (r *replay) next() mono.Time   { return mono.Never }

// scheduleSends hands the Host the recorded messages at their origin times.
func (r *replay) scheduleSends() {
	for _, rc := range r.conns {
		tag := r.tag(r.out, rc)
		for _, p := range r.firstSends(rc) {
			h, _ := wire.ParseData(p.Data)
			msg := golden.Message(tag, int(h.MsgNo)-1, len(p.Data)-wire.HeaderSize)
			origin := rc.zero + time.Duration(h.Timestamp)*time.Microsecond
			if origin > p.T { // over the wrap of the time stamp
				origin -= (1 << 32) * time.Microsecond
			}
			for p.T-origin > time.Hour {
				origin += (1 << 32) * time.Microsecond
			}
			r.w.After(max(origin, 0), func() {
				if s := r.sessionOf(rc); s == nil || !s.Send(msg) {
					r.t.Errorf("message %d not taken at %v", h.MsgNo-1, r.w.Now.Sub(r.begin))
				}
			})
		}
	}
}

// firstSends returns the recorded own data packets, each number once.
func (r *replay) firstSends(rc *replayConn) (out []golden.Packet) {
	seen := map[seq.Number]bool{}
	for _, p := range r.c.SenderView(r.out) {
		pkt := Packet{Data: p.Data}
		if r.ofConn(p) == rc && pkt.IsData() && !seen[pkt.Seq()] {
			seen[pkt.Seq()] = true
			out = append(out, p)
		}
	}
	return out
}

// tag is the generator's tag of a direction of a connection.
func (r *replay) tag(dir string, rc *replayConn) string {
	if rc != r.conns[0] && r.c.Name == "27-multiplex" {
		return dir + ".1"
	}
	return dir
}
