package sim

import (
	"bytes"
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

// TestGoldenReplay puts this implementation in the place of each peer of each
// capture.
func TestGoldenReplay(t *testing.T) {
	names, err := golden.Names()
	if err != nil {
		t.Fatal(err)
	}
	played := 0
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
				r.checkHandshakes()
				for i, rc := range r.conns {
					r.checkDeliveries(i, rc)
					r.checkNAKs(rc)
					r.checkSent(rc)
				}
			})
		}
	}
	if played < 150 {
		t.Errorf("only %d ends were played", played)
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
		if at > w.T+slack || at < w.T-late-slack {
			r.t.Errorf("message %d delivered at %v, recorded %v", w.K, at, w.T)
		}
	}
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
	r.compareSets("reported lost", got, want, rc)
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

func (r *replay) compareSets(what string, got, want map[seq.Number]bool, rc *replayConn) {
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
	if len(more)+len(less) > 0 {
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
		r.comparePacket(first[wire.DataSeq(p.Data)], p.Data)
	}
	r.compareSets("retransmitted", got, want, rc)
}

// comparePacket compares header fields and payload; the time stamp to within
// the relay's jitter, and O not at all: see the README of this folder's tests.
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
	if !bytes.Equal(got[wire.HeaderSize:], want[wire.HeaderSize:]) {
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
			if wok != gok {
				r.t.Errorf("%v: sent %v, recorded %v", t, gok, wok)
			} else if wok {
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

var _ engine.Config
