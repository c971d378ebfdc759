package sim

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
	"github.com/weirline/weirline/tests/golden"
)

// notOurs are ends of captures that ask for what this implementation does not
// have; the other ends of them are played.
func notOurs(name, role string) string {
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case has("gcm") && name != "07-aes-caller-auto-listener-gcm", name == "08-km-refresh-gcm":
		return "AES-GCM"
	case has("07-") && role == golden.Listener:
		return "AES-GCM"
	case name == "11-reject-congestion-live-to-file" && role == golden.Listener,
		(name == "11-reject-congestion" || name == "11-reject-congestion-same-api" || name == "11-reject-messageapi") && role == golden.Caller:
		return "file mode"
	case name == "11-reject-messageapi":
		return "file mode on both sides"
	}
	return ""
}

// difference is where this implementation does not do what libsrt did, and why
// that is right.
type difference struct {
	why         string
	alsoResent  []int // retransmitted here only
	notResent   []int // retransmitted by libsrt only
	notReported []int // NAKed by libsrt only
	ownTimes    bool  // delivery times are not libsrt's
	ownKey      bool  // sealed with a key that is in no message
	noReply     bool  // the recorded listener's answers are not there to compare
}

var differences = map[string]difference{
	"04-tsbpd-off/listener":                     {why: "without TSBPD messages are ready at once; libsrt wakes its reader with the next ACK", ownTimes: true},
	"04-tsbpd-off-listener/listener":            {why: "as above", ownTimes: true},
	"09-wrong-passphrase-not-enforced/listener": {why: "the peer cannot read it: the key is not recorded", ownKey: true},
	"10-listener-only-not-enforced/listener":    {why: "as above", ownKey: true},
	"11-connect-timeout/listener":               {why: "nobody was there", noReply: true},
	"11-connect-timeout-nonblocking/listener":   {why: "nobody was there", noReply: true},
	"11-reject-backlog/listener":                {why: "libsrt answers before the application accepts; here the answer is the application's", noReply: true},
	"12-nak-lost-first/caller":                  {why: "tail probe: libsrt would lose a lost last packet", alsoResent: []int{79}},
	"12-tail-loss/caller":                       {why: "tail probe", alsoResent: []int{29}},
	"12-nakreport-off/caller":                   {why: "all that is not acknowledged is repeated, a little earlier than libsrt does", alsoResent: []int{43, 44}},
	"13-tlpktdrop-sender/caller":                {why: "the age limit is met on the edge of a packet", notResent: []int{87}},
	"26-conclusion-response-lost/caller": {why: "libsrt reports the first packet behind the response as lost, too, and plays what was" +
		" sent before the response late", notReported: []int{1}, ownTimes: true},
}

// TestGoldenReplay puts this implementation in the place of each peer of each
// capture.
func TestGoldenReplay(t *testing.T) {
	names, err := golden.Names()
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	var sum tally
	for _, name := range names {
		c, err := golden.LoadName(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range []string{golden.Caller, golden.Listener} {
			if notOurs(name, role) != "" {
				continue
			}
			played++
			t.Run(name+"/"+role, func(t *testing.T) {
				r := newReplay(t, c, role).run()
				r.diff = differences[name+"/"+role]
				r.checkHandshakes()
				r.checkResult()
				defer func() { sum.add(r) }()
				for i, rc := range r.conns {
					r.checkDeliveries(i, rc)
					r.checkNAKs(rc)
					r.checkSent(rc)
				}
			})
		}
	}
	// The comparison is worth what was compared.
	if played != 187 || sum.delivered < 4000 || sum.sent < 4000 || sum.reported < 600 || sum.resent < 450 || sum.handshakes < 350 {
		t.Errorf("%d ends played, compared %+v", played, sum)
	}
}

// tally counts what was compared.
type tally struct{ delivered, reported, resent, handshakes, sent int }

func (n *tally) add(r *replay) {
	n.delivered += r.compared.delivered
	n.reported += r.compared.reported
	n.resent += r.compared.resent
	n.handshakes += r.compared.handshakes
	n.sent += r.compared.sent
}

// checkResult compares the outcome of connecting, and the negotiated values.
func (r *replay) checkResult() {
	for i, rc := range r.conns {
		s := r.sessionOf(rc)
		if r.role == golden.Caller && i < 2 {
			r.checkConnect(s, []string{golden.Caller, "caller2"}[i])
		}
		if i == 0 && s != nil && s.Connected {
			r.checkOptions(s)
		}
	}
	if r.unplaced > 0 && r.c.Meta.Expected.Connect[golden.Caller].OK && !r.diff.noReply {
		r.t.Errorf("%d datagrams had no receiver", r.unplaced)
	}
}

// checkConnect compares the end of a caller with the recorded one's.
func (r *replay) checkConnect(s *Session, side string) {
	want, ok := r.c.Meta.Expected.Connect[side]
	if !ok {
		return
	}
	var reject *engine.RejectError
	switch {
	case want.OK:
		if !s.Connected {
			r.t.Errorf("not connected: %v", s.Err)
		}
	case want.RejectReason == int(wire.RejTimeout)-1000:
		if !errors.Is(s.Err, engine.ErrConnTimeout) {
			r.t.Errorf("ended with %v, want a timeout", s.Err)
		}
	case !errors.As(s.Err, &reject) || int(reject.Reason) != 1000+want.RejectReason:
		r.t.Errorf("ended with %v, want reason %d", s.Err, want.RejectReason)
	}
}

// checkOptions compares what libsrt's getters said after connecting.
func (r *replay) checkOptions(s *Session) {
	opts := r.c.Meta.Expected.OptionsAfterConnect[r.role]
	st := s.Stats()
	got := map[string]int{
		"rcvlatency": int(s.Conn.RcvLatency().Milliseconds()), "peerlatency": int(s.Conn.PeerLatency().Milliseconds()),
		"mss": st.MSS, "sndkmstate": int(st.SndKMState), "rcvkmstate": int(st.RcvKMState),
		"peerversion": int(s.Conn.PeerVersion()),
	}
	if s.Config.Passphrase != "" {
		got["pbkeylen"] = st.KeyLen // libsrt takes it over even without a secret
	}
	for name, g := range got {
		if w, ok := opts[name].(float64); ok && int(w) != g {
			r.t.Errorf("%s is %d, libsrt says %d", name, g, int(w))
		}
	}
	if w := r.c.Meta.StreamID; w != s.Conn.StreamID() {
		r.t.Errorf("stream id %q, the recorded one is %q", s.Conn.StreamID(), w)
	}
}

// checkDeliveries compares what was delivered with the recorded deliveries.
func (r *replay) checkDeliveries(i int, rc *replayConn) {
	want := r.recordedDeliveries(i)
	s := r.sessionOf(rc)
	if s == nil {
		if len(want) > 0 {
			r.t.Errorf("no session, %d recorded deliveries", len(want))
		}
		return
	}
	tag := r.tag(r.in, rc)
	for k := range min(len(want), len(s.Received)) {
		got, w := s.Received[k], want[k]
		if !bytes.Equal(got.Data, golden.Message(tag, w.K, w.Len)) {
			r.t.Errorf("delivery %d is not message %d", k, w.K)
			return
		}
		at := got.At.Sub(r.begin)
		// libsrt is late by what its thread takes to wake up.
		late := r.lateness()
		if !r.diff.ownTimes && (at > w.T+slack || at < w.T-late-slack) {
			r.t.Errorf("message %d delivered at %v, recorded %v", w.K, at, w.T)
		}
	}
	r.compared.delivered += len(want)
	if len(want) != len(s.Received) {
		r.t.Errorf("%d messages delivered, %d recorded", len(s.Received), len(want))
	}
	if s.Config.TSBPD && len(s.Received) > 0 && s.Conn.RcvLatency() > 0 {
		Flow{To: s}.WantOnTime()
	}
}

func (r *replay) recordedDeliveries(conn int) (out []golden.Delivery) {
	for _, d := range r.c.Deliveries {
		if d.Side == r.role && d.Conn == conn {
			out = append(out, d)
		}
	}
	return out
}

// lateness is the recorded receiver's largest.
func (r *replay) lateness() time.Duration {
	return time.Duration(r.c.Meta.TSBPD[r.in].LateUs.Max) * time.Microsecond
}

// checkNAKs compares the set of numbers reported lost.
func (r *replay) checkNAKs(rc *replayConn) {
	want := map[seq.Number]bool{}
	for _, p := range r.c.SenderView(r.out) {
		if r.ofConn(p) == rc {
			addNAKs(want, p.Data)
		}
	}
	got := map[seq.Number]bool{}
	s := r.sessionOf(rc)
	if s == nil {
		return
	}
	for _, h := range r.sent {
		if wire.Dest(h.Data) == s.Conn.PeerSocketID() {
			addNAKs(got, h.Data)
		}
	}
	r.compared.reported += len(want)
	r.compareSets("reported lost", got, want, rc, nil, r.diff.notReported)
}

func addNAKs(set map[seq.Number]bool, data []byte) {
	h, content, err := wire.ParseControl(data)
	if err != nil || h.Type != wire.CtrlNAK {
		return
	}
	ranges, _ := wire.ParseNAK(nil, content)
	for _, x := range ranges {
		for n := x.First; n.LessEq(x.Last); n = n.Next() {
			set[n] = true
		}
	}
}

func (r *replay) compareSets(what string, got, want map[seq.Number]bool, rc *replayConn, mayMore, mayLess []int) {
	r.t.Helper()
	var more, less []int
	for n := range got {
		if !want[n] {
			more = append(more, n.Sub(rc.initSeq))
		}
	}
	for n := range want {
		if !got[n] {
			less = append(less, n.Sub(rc.initSeq))
		}
	}
	slices.Sort(more)
	slices.Sort(less)
	if !slices.Equal(more, mayMore) || !slices.Equal(less, mayLess) {
		r.t.Errorf("%s: in addition %v, not %v", what, more, less)
	}
}

// checkSent compares the data packets: each number's first transmission byte by
// byte, and the set of the retransmitted ones.
func (r *replay) checkSent(rc *replayConn) {
	s := r.sessionOf(rc)
	if s == nil {
		return
	}
	first := map[seq.Number][]byte{}
	got, want := map[seq.Number]bool{}, map[seq.Number]bool{}
	for _, h := range r.sent {
		if !h.IsData() || wire.Dest(h.Data) != s.Conn.PeerSocketID() {
			continue
		}
		if wire.IsRexmit(h.Data) {
			got[h.Seq()] = true
		} else {
			first[h.Seq()] = h.Data
		}
	}
	for _, p := range r.c.SenderView(r.out) {
		if pkt := (Packet{Data: p.Data}); r.ofConn(p) == rc && pkt.IsData() && wire.IsRexmit(p.Data) {
			want[pkt.Seq()] = true
		}
	}
	for _, p := range r.firstSends(rc) {
		r.compared.sent++
		r.comparePacket(first[wire.DataSeq(p.Data)], p.Data)
	}
	r.compared.resent += len(want)
	r.compareSets("retransmitted", got, want, rc, r.diff.alsoResent, r.diff.notResent)
}

// comparePacket compares header fields and payload; the time stamp to within
// the relay's jitter. O is not compared: libsrt clears it in live mode, where
// one message is one packet and it means nothing.
func (r *replay) comparePacket(got, want []byte) {
	r.t.Helper()
	g, errG := wire.ParseData(got)
	w, errW := wire.ParseData(want)
	if errG != nil || errW != nil {
		r.t.Errorf("seq %d was not sent", w.Seq)
		return
	}
	late := time.Duration(int32(g.Timestamp-w.Timestamp)) * time.Microsecond
	if g.PP != w.PP || g.KK != w.KK || g.MsgNo != w.MsgNo || late.Abs() > slack {
		r.t.Errorf("sent %+v, recorded %+v", g, w)
	}
	if !r.diff.ownKey && !bytes.Equal(got[wire.HeaderSize:], want[wire.HeaderSize:]) {
		r.t.Errorf("payload of seq %d differs", w.Seq)
	}
}

// checkHandshakes compares the Host's handshake messages with the recorded
// ones, field by field.
func (r *replay) checkHandshakes() {
	for _, rc := range r.conns {
		for _, t := range []wire.HSType{wire.HSInduction, wire.HSConclusion, 1000} {
			want, wok := r.recordedHandshake(rc, t)
			got, gok := r.ownHandshake(rc, t)
			if r.diff.noReply && (!wok || !gok) {
				continue
			}
			if wok != gok {
				r.t.Errorf("%v: sent %v, recorded %v", t, gok, wok)
			} else if wok {
				r.compared.handshakes++
				r.compareHandshake(got, want)
			}
		}
	}
}

func sameKind(a, b wire.HSType) bool { return a == b || a.IsReject() && b.IsReject() }

func (r *replay) recordedHandshake(rc *replayConn, t wire.HSType) (hs wire.Handshake, ok bool) {
	for _, p := range r.c.SenderView(r.out) {
		if hs, ok = handshakeOf(p.Data); ok && r.ofConn(p) == rc && sameKind(hs.Type, t) {
			return hs, true
		}
	}
	return hs, false
}

func (r *replay) ownHandshake(rc *replayConn, t wire.HSType) (hs wire.Handshake, ok bool) {
	for _, h := range r.sent {
		if hs, ok = handshakeOf(h.Data); ok && sameKind(hs.Type, t) && r.belongs(rc, h.Data, &hs) {
			return hs, true
		}
	}
	return hs, false
}

// belongs reports whether a handshake of the Host is of this connection.
func (r *replay) belongs(rc *replayConn, data []byte, hs *wire.Handshake) bool {
	if r.role == golden.Listener {
		return wire.Dest(data) == rc.callerID
	}
	return rc.session != nil && rc.session.Conn.SocketID() == hs.SocketID
}

func (r *replay) compareHandshake(got, want wire.Handshake) {
	g, w := got, want
	// Drawn at random, or the addresses of the replay.
	g.SocketID, w.SocketID, g.Cookie, w.Cookie = 0, 0, 0, 0
	g.Exts, w.Exts = nil, nil
	if g.Version != w.Version || g.EncField != w.EncField || g.ExtField != w.ExtField || g.InitSeq != w.InitSeq ||
		g.MSS != w.MSS || g.FlowWindow != w.FlowWindow || g.Type != w.Type || g.PeerIP != w.PeerIP {
		r.t.Errorf("handshake\nsent     %+v\nrecorded %+v", g, w)
	}
	ge, _ := wire.ParseExtensions(got.Exts, nil)
	we, _ := wire.ParseExtensions(want.Exts, nil)
	if len(ge) != len(we) {
		r.t.Errorf("extensions %v, recorded %v", ge, we)
		return
	}
	for i := range ge {
		if ge[i].Type != we[i].Type || !bytes.Equal(comparable(ge[i]), comparable(we[i])) {
			r.t.Errorf("extension %v %x\nrecorded %v %x", ge[i].Type, ge[i].Content, we[i].Type, we[i].Content)
		}
	}
}

// comparable returns the content of an extension without what may differ: the
// version, and the flag for packet filters, which this implementation lacks.
func comparable(e wire.Extension) []byte {
	if e.Type != wire.ExtHSReq && e.Type != wire.ExtHSRsp {
		return e.Content
	}
	x, err := wire.ParseHSExt(e.Content)
	if err != nil {
		return e.Content
	}
	x.Version, x.Flags = 0, x.Flags&^wire.FlagFilter
	return x.Append(nil, e.Type)
}

// 60 messages of 1000 bytes offered at once leave at 250000 bytes/s, headers
// included, as libsrt's did.
func TestGoldenPacing(t *testing.T) {
	c, err := golden.LoadName("28-pacing-maxbw")
	if err != nil {
		t.Fatal(err)
	}
	r := newReplay(t, c, golden.Caller).run()
	var own []time.Duration
	for _, h := range r.sent {
		if h.IsData() {
			own = append(own, h.At.Sub(r.begin))
		}
	}
	recorded := r.firstSends(r.conns[0])
	took := own[len(own)-1] - own[0]
	libsrt := recorded[len(recorded)-1].T - recorded[0].T
	if want := 59 * 1044 * time.Second / 250000; took < want*9/10 || took > want*11/10 {
		t.Errorf("%d packets took %v, want %v; libsrt took %v", len(own), took, want, libsrt)
	}
	for i := 10; i < len(own); i++ {
		if d := own[i] - own[i-1]; d < 3500*time.Microsecond {
			t.Errorf("packets %d and %d only %v apart", i-1, i, d)
		}
	}
}
