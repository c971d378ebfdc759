package sim

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

const secret = "correct horse battery"

func secretConfig(latency time.Duration, keyLen int) engine.Config {
	cfg := liveConfig(latency)
	cfg.Passphrase, cfg.PBKeyLen = secret, keyLen
	return cfg
}

// keyMaterialOf finds the key material in a KMREQ, in a handshake or by itself.
func keyMaterialOf(p *Packet) (m wire.KeyMaterial, ok bool) {
	if !wire.IsControl(p.Data) {
		return m, false
	}
	h, content, err := wire.ParseControl(p.Data)
	if err != nil {
		return m, false
	}
	if h.Type == wire.CtrlUserDefined && h.Subtype == uint16(wire.ExtKMReq) {
		m, err = wire.ParseKeyMaterial(content)
		return m, err == nil
	}
	hs, isHS := p.Handshake()
	if !isHS || hs.Type != wire.HSConclusion {
		return m, false
	}
	exts, _ := wire.ParseExtensions(hs.Exts, nil)
	for _, e := range exts {
		if e.Type == wire.ExtKMReq {
			m, err = wire.ParseKeyMaterial(e.Content)
			return m, err == nil
		}
	}
	return m, false
}

// isExt reports whether the packet is an extension message of this type.
func isExt(p *Packet, t wire.ExtType) bool {
	if !wire.IsControl(p.Data) {
		return false
	}
	h, _, err := wire.ParseControl(p.Data)
	return err == nil && h.Type == wire.CtrlUserDefined && h.Subtype == uint16(t)
}

// The key length of every pair of wishes: unset yields to set, nobody set
// means 16, of two different ones the listener's holds.
func TestC06KeyLength(t *testing.T) {
	lens := []int{0, 16, 24, 32}
	for _, caller := range lens {
		for _, listener := range lens {
			t.Run(fmt.Sprintf("%d-%d", caller, listener), func(t *testing.T) {
				want := listener
				if want == 0 {
					want = caller
				}
				if want == 0 {
					want = 16
				}
				p := NewPair(t, 1).Delay(5 * time.Millisecond)
				onWire := 0
				p.Up.Config.Tap = func(pkt *Packet, _ Fate) {
					if m, ok := keyMaterialOf(pkt); ok {
						onWire = m.KeyLen
					}
				}
				p.Connect(secretConfig(120*time.Millisecond, caller), secretConfig(120*time.Millisecond, listener))
				p.A.Stream(0, 10*time.Millisecond, 20, 500)
				p.B.Stream(0, 10*time.Millisecond, 20, 500)
				p.RunFor(time.Second)
				Flow{p.A, p.B}.WantComplete()
				Flow{p.B, p.A}.WantComplete()
				a, b := p.A.Stats().KeyLen, p.B.Stats().KeyLen
				if onWire != want || a != want || b != want {
					t.Errorf("key of %d bytes on the wire, %d and %d in the statistics, want %d", onWire, a, b, want)
				}
				for _, s := range []*Session{p.A, p.B} {
					if s.Conn.SndKMState() != wire.KMSecured || s.Conn.RcvKMState() != wire.KMSecured {
						t.Errorf("key states %v %v", s.Conn.SndKMState(), s.Conn.RcvKMState())
					}
				}
				p.Finish(20 * time.Second)
			})
		}
	}
}

// A caller that announces no key length in the encryption field, and sends a
// KMREQ all the same.
func TestC06KMReqWithoutEncryptionField(t *testing.T) {
	w, p, h := peerAndHost(t, secretConfig(120*time.Millisecond, 0))
	p.Induce()
	ext := LiveExt(120*time.Millisecond, 0)
	exts := ext.Append(nil, wire.ExtHSReq)
	exts = wire.AppendExtension(exts, wire.ExtKMReq, keyMaterial(secret, 32))
	p.Conclude(wire.ExtFieldHSReq|wire.ExtFieldKMReq, exts)
	w.RunFor(100 * time.Millisecond)
	if len(h.Accepted) != 1 || p.RemoteID == 0 {
		t.Fatalf("not accepted: %v", p.Replies())
	}
	var salt crypt.Salt
	copy(salt[:], "0123456789abcdef")
	sek, err := crypt.NewSEK(bytes.Repeat([]byte{7}, 32), salt)
	if err != nil {
		t.Fatal(err)
	}
	payload := Payload(0, 700)
	sek.XOR(payload, p.InitSeq)
	b := make([]byte, wire.HeaderSize)
	wire.DataHeader{Seq: p.InitSeq, PP: wire.PPSolo, KK: wire.KKEven, MsgNo: 1, Timestamp: p.Stamp(), Dest: p.RemoteID}.Put(b)
	p.Raw(append(b, payload...))
	w.RunFor(time.Second)
	if got := h.Accepted[0].Indexes(); len(got) != 1 {
		t.Errorf("%d messages, want 1", len(got))
	}
}

// refresher is a Pair whose keys change every 256 packets, and the key of each
// data packet sent for the first time.
type refresher struct {
	*Pair
	kks      map[seq.Number]wire.KK
	switches int
}

func newRefresher(t *testing.T, seed uint64) *refresher {
	r := &refresher{Pair: NewPair(t, seed).Delay(20 * time.Millisecond), kks: make(map[seq.Number]wire.KK)}
	last := wire.KKEven
	r.Up.Config.Tap = func(p *Packet, _ Fate) {
		if !p.IsData() {
			return
		}
		n, kk := p.Seq(), wire.DataKK(p.Data)
		if first, seen := r.kks[n]; seen && first != kk {
			t.Errorf("seq %d was sent with key %v, then with %v", n, first, kk)
		} else if !seen && kk != last {
			r.switches, last = r.switches+1, kk
		}
		r.kks[n] = kk
	}
	return r
}

// run streams for a while and checks what every variant of C07 must hold.
func (r *refresher) run(n, wantSwitches int) {
	t := r.TB
	t.Helper()
	cfg := secretConfig(600*time.Millisecond, 16)
	cfg.KMRefresh, cfg.KMPreAnn, cfg.OverheadBW = 256, 60, 100
	r.Connect(cfg, cfg)
	r.A.Stream(0, 500*time.Microsecond, n, 300)
	r.RunFor(time.Duration(n)*500*time.Microsecond + 2*time.Second)
	Flow{r.A, r.B}.WantComplete()
	if u := r.B.Stats().Undecrypt.Packets; u != 0 {
		t.Errorf("%d packets could not be decrypted", u)
	}
	if r.switches < wantSwitches {
		t.Errorf("%d key switches, want at least %d", r.switches, wantSwitches)
	}
	if r.A.Ended() || r.B.Ended() {
		t.Errorf("ended: %v, %v", r.A.Err, r.B.Err)
	}
	r.Finish(20 * time.Second)
}

func TestC07aRefreshUnderLoss(t *testing.T) {
	r := newRefresher(t, seed(11))
	r.Up.Config.Loss, r.Down.Config.Loss = .02, .02
	r.run(16000, 50)
}

// All KMREQs of one refresh are lost: the sender stays with the old key, which
// the peer has, and moves on when it is answered at last.
func TestC07bKMReqLost(t *testing.T) {
	r := newRefresher(t, seed(12))
	from, until := 3*time.Second, 4500*time.Millisecond
	lost := 0
	r.Up.Config.Drop = func(p *Packet) bool {
		drop := isExt(p, wire.ExtKMReq) && r.Since() > from && r.Since() < until
		if drop {
			lost++
		}
		return drop
	}
	r.run(16000, 40)
	if lost < 3 {
		t.Errorf("only %d KMREQs were lost; they must be repeated until answered", lost)
	}
}

func TestC07cKMRspLost(t *testing.T) {
	r := newRefresher(t, seed(13))
	lost := 0
	r.Down.Config.Drop = func(p *Packet) bool {
		drop := isExt(p, wire.ExtKMRsp) && lost < 8
		if drop {
			lost++
		}
		return drop
	}
	r.run(16000, 45)
}

// Packets of the old key are lost at the switch and repeated, late, after it.
func TestC07dOldKeyAfterTheSwitch(t *testing.T) {
	r := newRefresher(t, seed(14))
	lost := 0
	r.Up.Config.Drop = func(p *Packet) bool {
		// The last packets before each switch, first time only.
		off := 0
		if r.A != nil && len(r.A.Sent) > 0 {
			off = len(r.A.Sent) % 256
		}
		drop := p.IsData() && !wire.IsRexmit(p.Data) && off > 236
		if drop {
			lost++
		}
		return drop
	}
	r.Up.Config.Extra = func(p *Packet) time.Duration {
		if p.IsData() && wire.IsRexmit(p.Data) {
			return 30 * time.Millisecond
		}
		return 0
	}
	r.run(16000, 50)
	if lost < 500 {
		t.Fatalf("only %d packets were lost; the test does not test", lost)
	}
}

// The two keys of a refresh travel in one message under the same salt.
func TestKeyRefreshKeepsTheSalt(t *testing.T) {
	p := NewPair(t, 1).Delay(10 * time.Millisecond)
	var salts [][16]byte
	var kks []wire.KK
	p.Up.Config.Tap = func(pkt *Packet, _ Fate) {
		if m, ok := keyMaterialOf(pkt); ok {
			salts, kks = append(salts, m.Salt), append(kks, m.KK)
		}
	}
	cfg := secretConfig(120*time.Millisecond, 32)
	cfg.KMRefresh, cfg.KMPreAnn = 60, 20
	p.Connect(cfg, cfg)
	p.A.Stream(0, 5*time.Millisecond, 200, 188)
	p.RunFor(2 * time.Second)
	if len(salts) != 4 {
		t.Fatalf("%d KMREQs, want the first and three refreshes", len(salts))
	}
	for i := range salts {
		if salts[i] != salts[0] || (i > 0 && kks[i] != wire.KKBoth) {
			t.Errorf("KMREQ %d: key %v, salt %x", i, kks[i], salts[i])
		}
	}
	Flow{p.A, p.B}.WantComplete()
}
