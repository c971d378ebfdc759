package engine

import (
	"bytes"
	"time"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// refresh is the sender's change of key (draft section 6.1.6): pre-announce,
// switch over, retire. It does not switch before the peer has confirmed the new
// key, since the old one is still good and a switch would leave the peer deaf.
type refresh struct {
	next      mono.Time // of the next repetition
	message   []byte    // announced KMREQ; nil: nothing announced
	confirmed bool
	tries     int
}

const (
	// minKMRepeat is the least time between repetitions of a KMREQ.
	minKMRepeat = 20 * time.Millisecond
	// eagerKMRepeats come after 1.5 round trips each; later ones once a second.
	eagerKMRepeats = 10
)

// maybeAnnounce announces the next key once the active one is nearly used up.
func (c *Conn) maybeAnnounce(now mono.Time) {
	k := &c.km
	if k.refresh.message != nil || k.count <= c.cfg.KMRefresh-c.cfg.KMPreAnn {
		return
	}
	next := k.active.Other()
	if c.usesKey(next) {
		return
	}
	key, err := crypt.NewKey(c.ep.rand, k.keyLen)
	if err != nil {
		return // no entropy now: the active key goes on
	}
	sek, err := crypt.NewSEK(key, k.salt)
	if err != nil {
		return
	}
	k.snd[slot(next)] = sek
	both := append(bytes.Clone(k.snd[0].Key()), k.snd[1].Key()...)
	msg, err := k.message(wire.KKBoth, both)
	if err != nil {
		return
	}
	k.refresh = refresh{message: msg, next: now}
	c.ctl.kmReq = true
}

// usesKey reports whether a packet sealed with the key in this slot may still be
// sent again. The announcement replaces that key at the peer, which then could
// only misread the packet. Keys follow one another in the buffer, so the oldest
// packet tells.
func (c *Conn) usesKey(kk wire.KK) bool {
	b := &c.snd.buf
	return b.sent > 0 && wire.DataKK(b.at(0).buf.Header()) == kk
}

// maybeSwitchOver goes over to the announced and confirmed key.
func (c *Conn) maybeSwitchOver() {
	k := &c.km
	if k.count <= c.cfg.KMRefresh || !k.refresh.confirmed {
		return
	}
	k.active = k.active.Other()
	k.count = 0
	k.refresh = refresh{next: mono.Never}
}

// answer takes the KMRSP: the announcement's own bytes confirm it.
func (r *refresh) answer(content []byte) {
	if r.message != nil && bytes.Equal(content, r.message) {
		r.confirmed = true
		r.next = mono.Never
	}
}

func (k *km) nextDeadline() mono.Time { return k.refresh.next }

// advanceKM repeats an announcement that was not confirmed.
func (c *Conn) advanceKM(now mono.Time) {
	if now >= c.km.refresh.next && c.state == stateConnected {
		c.ctl.kmReq = true
	}
	if c.state != stateConnected {
		c.km.refresh.next = mono.Never
	}
}

// pollKM appends the announcement and the answer to the peer's.
func (c *Conn) pollKM(now mono.Time, b *dgram.Batch) {
	r := &c.km.refresh
	if c.ctl.kmReq && r.message != nil && !r.confirmed {
		c.addExt(now, b, wire.ExtKMReq, r.message)
		r.tries++
		wait := max(c.rtt.smoothed*3/2, minKMRepeat)
		if r.tries >= eagerKMRepeats {
			wait = max(wait, time.Second)
		}
		r.next = now.Add(wait)
	}
	c.ctl.kmReq = false
	if c.ctl.kmRsp {
		c.addExt(now, b, wire.ExtKMRsp, c.km.answer)
		c.ctl.kmRsp, c.km.answer = false, nil
	}
}

func (c *Conn) addExt(now mono.Time, b *dgram.Batch, t wire.ExtType, content []byte) {
	h := wire.ControlHeader{Type: wire.CtrlUserDefined, Subtype: uint16(t)}
	copy(c.addControl(now, b, h, len(content)), content)
}
