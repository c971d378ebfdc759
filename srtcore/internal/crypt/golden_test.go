package crypt_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
	"github.com/weirline/weirline/tests/golden"
)

// listenTap decrypts a recorded connection as somebody would who knows the
// passphrases of both sides.
type listenTap struct {
	t *testing.T
	c *golden.Capture
	// keys by direction and KK.
	keys map[string]*[4]*crypt.SEK
	// plain holds the messages read so far, by direction and message number.
	plain map[string]map[seq.MsgNo][]byte
	// sealed counts packets of a direction that no key opens.
	sealed map[string]int
	// wrong counts key material that the receiver's passphrase does not open.
	wrong int
}

func newListenTap(t *testing.T, c *golden.Capture) *listenTap {
	return &listenTap{
		t: t, c: c,
		keys:   map[string]*[4]*crypt.SEK{golden.C2L: {}, golden.L2C: {}},
		plain:  map[string]map[seq.MsgNo][]byte{golden.C2L: {}, golden.L2C: {}},
		sealed: make(map[string]int),
	}
}

func senderOf(dir string) string {
	if dir == golden.C2L {
		return golden.Caller
	}
	return golden.Listener
}

func receiverOf(dir string) string { return senderOf(reverse(dir)) }

func reverse(dir string) string {
	if dir == golden.C2L {
		return golden.L2C
	}
	return golden.C2L
}

func (l *listenTap) packet(p golden.Packet) {
	if !wire.IsControl(p.Data) {
		l.data(p)
		return
	}
	h, content, err := wire.ParseControl(p.Data)
	if err != nil {
		l.t.Fatal(err)
	}
	switch {
	case h.Type == wire.CtrlUserDefined && wire.ExtType(h.Subtype) == wire.ExtKMReq:
		l.keyMaterial(p.Dir, content, false)
	case h.Type == wire.CtrlHandshake:
		hs, err := wire.ParseHandshake(content)
		if err != nil {
			l.t.Fatal(err)
		}
		exts, err := wire.ParseExtensions(hs.Exts, nil)
		if err != nil {
			l.t.Fatal(err)
		}
		for _, e := range exts {
			if e.Type == wire.ExtKMReq {
				l.keyMaterial(p.Dir, e.Content, true)
			}
		}
	}
}

// keyMaterial takes the keys of a KMREQ. Those of the handshake serve both
// directions, if the receiver has the same passphrase.
func (l *listenTap) keyMaterial(dir string, content []byte, handshake bool) {
	km, err := wire.ParseKeyMaterial(content)
	if err != nil {
		l.t.Fatal(err)
	}
	if km.Cipher != wire.CipherAESCTR {
		l.t.Fatalf("cipher %d", km.Cipher)
	}
	l.useKeys(dir, km, l.unwrap(senderOf(dir), km))
	theirs := l.unwrap(receiverOf(dir), km)
	if theirs == nil {
		l.wrong++
	} else if handshake {
		l.useKeys(reverse(dir), km, theirs)
	}
}

// unwrap returns the keys, nil if the side cannot read them. Wrapping them
// again gives the same bytes.
func (l *listenTap) unwrap(side string, km wire.KeyMaterial) []byte {
	pass := l.c.Meta.SidePassphrase(side)
	if pass == "" {
		return nil
	}
	kek := crypt.DeriveKEK(pass, km.Salt, km.KeyLen)
	keys, err := crypt.UnwrapKeys(kek, km.Wrapped)
	if errors.Is(err, crypt.ErrBadSecret) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	if again, err := crypt.WrapKeys(kek, keys); err != nil || !bytes.Equal(again, km.Wrapped) {
		l.t.Errorf("keys wrap to %x, %v; were %x", again, err, km.Wrapped)
	}
	return keys
}

func (l *listenTap) useKeys(dir string, km wire.KeyMaterial, keys []byte) {
	for _, kk := range []wire.KK{wire.KKEven, wire.KKOdd} {
		if km.KK&kk == 0 || len(keys) == 0 {
			continue
		}
		k, err := crypt.NewSEK(keys[:km.KeyLen], km.Salt)
		if err != nil {
			l.t.Fatal(err)
		}
		l.keys[dir][kk] = k
		keys = keys[km.KeyLen:]
	}
}

// data decrypts a data packet and compares it with what the peer's program
// generated.
func (l *listenTap) data(p golden.Packet) {
	h, err := wire.ParseData(p.Data)
	if err != nil {
		l.t.Fatal(err)
	}
	payload := bytes.Clone(p.Data[wire.HeaderSize:])
	if h.KK != wire.KKClear {
		k := l.keys[p.Dir][h.KK]
		if k == nil {
			l.sealed[p.Dir]++
			return
		}
		k.XOR(payload, h.Seq)
	}
	number := int(h.MsgNo) - 1
	size := l.c.Meta.Actions[senderOf(p.Dir)].SendSize.Of(number)
	if !bytes.Equal(payload, golden.Message(p.Dir, number, size)) {
		l.t.Fatalf("%s: message %d, key %v: not what was sent", p.Dir, number, h.KK)
	}
	l.plain[p.Dir][h.MsgNo] = payload
}

// sentHash hashes the messages seen on the wire, in the order of their numbers.
func (l *listenTap) sentHash(dir string) string {
	sum, left := sha256.New(), len(l.plain[dir])
	for n := seq.MsgNo(1); left > 0; n = n.Next() {
		if m, ok := l.plain[dir][n]; ok {
			sum.Write(m)
			left--
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// deliveredHash hashes the messages that the receiver's program was handed, in
// the order in which it was.
func (l *listenTap) deliveredHash(dir string) string {
	sum := sha256.New()
	for _, d := range l.c.Deliveries {
		if d.Side == receiverOf(dir) {
			sum.Write(l.plain[dir][seq.MsgNo(d.MsgNo)])
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// TestGoldenDecrypt opens every packet of every recorded connection, in clear or
// AES-CTR, and compares with the generator, with what the programs sent and
// received, and with what another decoder found.
func TestGoldenDecrypt(t *testing.T) {
	names, err := golden.Names()
	if err != nil {
		t.Fatal(err)
	}
	var ctr, wrong int
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c, err := golden.LoadName(name)
			if err != nil {
				t.Fatal(err)
			}
			l := newListenTap(t, c)
			if usesGCM(c) || twoConnections(c) {
				return
			}
			for _, p := range c.Packets {
				l.packet(p)
			}
			l.check()
			if l.keys[golden.C2L][wire.KKEven] != nil {
				ctr++
			}
			wrong += l.wrong
		})
	}
	if ctr < 20 || wrong < 3 {
		t.Errorf("%d connections with keys and %d wrong passphrases only", ctr, wrong)
	}
}

// usesGCM: a cipher that SEK.XOR does not speak.
func usesGCM(c *golden.Capture) bool { return strings.Contains(c.Name, "gcm") }

// twoConnections: the tap follows one.
func twoConnections(c *golden.Capture) bool {
	_, ok := c.Meta.WireFacts.WirePayload["c2l.1"]
	return ok
}

func (l *listenTap) check() {
	for _, dir := range []string{golden.C2L, golden.L2C} {
		found, ok := l.c.Meta.WireFacts.WirePayload[dir]
		if !ok {
			continue
		}
		if n := l.sealed[dir]; n != 0 {
			if !strings.HasPrefix(found.MatchesGenerator, "0 of ") {
				l.t.Errorf("%s: no key for %d packets", dir, n)
			}
			continue
		}
		if len(l.plain[dir]) != found.Packets {
			l.t.Errorf("%s: %d messages, want %d", dir, len(l.plain[dir]), found.Packets)
		}
		l.checkHashes(dir, found)
	}
}

func (l *listenTap) checkHashes(dir string, found golden.WirePayload) {
	hash := l.sentHash(dir)
	if !strings.HasPrefix(found.MatchesGenerator, "0 of ") && hash != found.SHA256 {
		l.t.Errorf("%s: payload on the wire %s, want %s", dir, hash, found.SHA256)
	}
	// Messages dropped before their first sending were never on the wire.
	sent, ok := l.c.Meta.Expected.Sent[senderOf(dir)]
	if ok && sent.Messages == found.Packets && hash != sent.SHA256 {
		l.t.Errorf("%s: payload on the wire %s, sent was %s", dir, hash, sent.SHA256)
	}
	if got, want := l.deliveredHash(dir), l.c.Meta.Expected.Received[receiverOf(dir)].SHA256; want != "" && got != want {
		l.t.Errorf("%s: delivered %s, want %s", dir, got, want)
	}
	l.checkKeys(dir, found)
}

// checkKeys compares the last keys of a direction with the other decoder's.
func (l *listenTap) checkKeys(dir string, found golden.WirePayload) {
	if len(found.Keys) == 0 {
		return
	}
	last := found.Keys[len(found.Keys)-1]
	for kk, want := range map[wire.KK]string{wire.KKEven: last.Even, wire.KKOdd: last.Odd} {
		if k := l.keys[dir][kk]; want != "" && (k == nil || hex.EncodeToString(k.Key()) != want) {
			l.t.Errorf("%s: %v key differs from %s", dir, kk, want)
		}
	}
}
