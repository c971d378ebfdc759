package engine

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"time"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// km is the key material of a connection (draft section 6). Each direction has
// an even and an odd SEK; both begin with the same one.
type km struct {
	active wire.KK // of the sender: KKEven or KKOdd, KKClear before any key

	sndState, rcvState wire.KMState

	count   int // packets sent with the active key
	refresh refresh
	snd     [2]*crypt.SEK // even, odd
	rcv     [2]*crypt.SEK

	kek    []byte
	salt   crypt.Salt
	keyLen int
	answer []byte // KMRSP content to send, see asked

	deriveAt mono.Time // of the last KEK derivation asked for by the peer
	seen     kmHistory // the peer's messages already taken
}

// kmHistory remembers the peer's last KM messages by the head of their wrapped
// keys, so that a copy the network delivers late cannot bring an old key back.
type kmHistory struct {
	marks [8]uint64
	next  int
}

// known reports whether the message was taken before, and remembers it.
func (h *kmHistory) known(m *wire.KeyMaterial) bool {
	mark := binary.BigEndian.Uint64(m.Wrapped)
	if slices.Contains(h.marks[:], mark) {
		return true
	}
	h.marks[h.next%len(h.marks)] = mark
	h.next++
	return false
}

func (k *km) init() { k.refresh.next = mono.Never }

// slot returns the index of a single key.
func slot(kk wire.KK) int { return int(kk) - int(wire.KKEven) }

// Secret is a key-encryption key made in advance: deriving it takes about a
// millisecond, which neither a loop nor the time stamps of a handshake have.
type Secret struct {
	salt   crypt.Salt
	keyLen int
	kek    []byte
}

// NewSecret derives the key of a passphrase for SEKs of keyLen bytes; 0 stands
// for 16.
func NewSecret(entropy io.Reader, passphrase string, keyLen int) (*Secret, error) {
	salt, err := crypt.NewSalt(entropy)
	if err != nil {
		return nil, err
	}
	if keyLen == 0 {
		keyLen = 16
	}
	return &Secret{salt, keyLen, crypt.DeriveKEK(passphrase, salt, keyLen)}, nil
}

// secret returns the one made in advance, or makes one if the listener has asked
// for another key length.
func (c *Conn) secret() (*Secret, error) {
	keyLen := c.keyLen()
	if s := c.cfg.Secret; s != nil && s.keyLen == keyLen {
		return s, nil
	}
	return NewSecret(c.ep.rand, c.cfg.Passphrase, keyLen)
}

// generateKey makes the first key: the initiator does. It returns the KMREQ.
func (c *Conn) generateKey() ([]byte, error) {
	s, err := c.secret()
	if err != nil {
		return nil, err
	}
	return c.km.generate(c.ep.rand, s)
}

func (k *km) generate(entropy io.Reader, s *Secret) ([]byte, error) {
	key, err := crypt.NewKey(entropy, s.keyLen)
	if err != nil {
		return nil, err
	}
	k.salt, k.keyLen, k.kek = s.salt, s.keyLen, s.kek
	if err := k.install(wire.KKEven, key); err != nil {
		return nil, err
	}
	return k.message(wire.KKEven, key)
}

// install sets one key for both directions and makes it the sender's.
func (k *km) install(kk wire.KK, key []byte) error {
	sek, err := crypt.NewSEK(key, k.salt)
	if err != nil {
		return err
	}
	k.snd[slot(kk)], k.rcv[slot(kk)] = sek, sek
	k.active, k.count = kk, 1
	return nil
}

// message returns a KM message with the given keys, even before odd.
func (k *km) message(kk wire.KK, keys []byte) ([]byte, error) {
	wrapped, err := crypt.WrapKeys(k.kek, keys)
	if err != nil {
		return nil, err
	}
	m := wire.KeyMaterial{
		KK: kk, Cipher: wire.CipherAESCTR, Auth: wire.AuthNone,
		KeyLen: k.keyLen, Salt: k.salt, Wrapped: wrapped,
	}
	return m.Append(nil), nil
}

// accept takes the initiator's KMREQ of the handshake; kek fits its salt.
func (k *km) accept(m *wire.KeyMaterial, kek []byte) error {
	k.salt, k.keyLen, k.kek = m.Salt, m.KeyLen, kek
	keys, err := crypt.UnwrapKeys(k.kek, m.Wrapped)
	if err != nil {
		return err
	}
	k.seen.known(m)
	for kk := wire.KKEven; kk <= wire.KKOdd; kk++ {
		if m.KK&kk == 0 {
			continue
		}
		if err := k.install(kk, keys[:m.KeyLen]); err != nil {
			return err
		}
		keys = keys[m.KeyLen:]
	}
	return nil
}

// sealNew encrypts a packet that is sent for the first time, with the active
// key, and counts towards the key's refresh.
func (c *Conn) sealNew(now mono.Time, b *dgram.Buf) {
	k := &c.km
	if k.active == wire.KKClear {
		return
	}
	c.maybeSwitchOver()
	wire.SetKK(b.Header(), k.active)
	k.snd[slot(k.active)].XOR(b.Payload(), wire.DataSeq(b.Header()))
	k.count++
	c.maybeAnnounce(now)
}

// open decrypts a payload in place. It reports false when it cannot: no such
// key, or a clear packet where keys were agreed.
func (k *km) open(payload []byte, h wire.DataHeader) bool {
	if h.KK == wire.KKClear {
		return k.rcvState != wire.KMSecured
	}
	if h.KK == wire.KKBoth || k.rcvState != wire.KMSecured || k.rcv[slot(h.KK)] == nil {
		return false
	}
	k.rcv[slot(h.KK)].XOR(payload, h.Seq)
	return true
}

// handleExt takes EXT/KMREQ and EXT/KMRSP of a refresh.
func (c *Conn) handleExt(now mono.Time, h wire.ControlHeader, content []byte) {
	switch wire.ExtType(h.Subtype) {
	case wire.ExtKMReq:
		c.km.answer = c.refreshRcv(now, content)
		c.ctl.kmRsp = c.km.answer != nil
	case wire.ExtKMRsp:
		c.km.refresh.answer(content)
	default:
		c.stats.badPackets++
	}
}

// refreshRcv takes the peer's new keys and returns the KMRSP content; nil for
// no answer.
func (c *Conn) refreshRcv(now mono.Time, content []byte) []byte {
	k := &c.km
	m, err := wire.ParseKeyMaterial(content)
	if err != nil || m.Cipher != wire.CipherAESCTR || m.Auth != wire.AuthNone {
		c.stats.badPackets++
		return nil
	}
	if c.cfg.Passphrase == "" {
		return wire.AppendKMState(nil, wire.KMNoSecret)
	}
	kek := c.kekFor(now, &m)
	if kek == nil {
		return nil
	}
	keys, err := crypt.UnwrapKeys(kek, m.Wrapped)
	if err != nil {
		return wire.AppendKMState(nil, wire.KMBadSecret)
	}
	if !k.seen.known(&m) && k.replaceRcv(&m, keys) != nil {
		return nil
	}
	k.rcvState = wire.KMSecured
	return bytes.Clone(content)
}

// replaceRcv sets the receiver's keys to those of the message.
func (k *km) replaceRcv(m *wire.KeyMaterial, keys []byte) error {
	for kk := wire.KKEven; kk <= wire.KKOdd; kk++ {
		if m.KK&kk == 0 {
			continue
		}
		sek, err := crypt.NewSEK(keys[:m.KeyLen], m.Salt)
		if err != nil {
			return err
		}
		k.rcv[slot(kk)] = sek
		keys = keys[m.KeyLen:]
	}
	return nil
}

// kekFor returns the KEK for the peer's message. It changes only with the salt,
// and deriving it is dear, so that is done once a second at most.
func (c *Conn) kekFor(now mono.Time, m *wire.KeyMaterial) []byte {
	k := &c.km
	if m.Salt == k.salt && m.KeyLen == k.keyLen {
		return k.kek
	}
	if k.deriveAt != 0 && now.Sub(k.deriveAt) < time.Second {
		return nil
	}
	k.deriveAt = now
	return crypt.DeriveKEK(c.cfg.Passphrase, m.Salt, m.KeyLen)
}
