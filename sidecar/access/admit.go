package access

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// guest is a caller on his way from the first request to the end of his
// connection. Port.mu guards the fields below the line.
type guest struct {
	wish
	id   string // the stream id as he gave it
	from netip.AddrPort
	end  *end
	at   *patron

	state state
	since time.Time       // of the state
	done  <-chan struct{} // of his connection
	rival rival
}

type state int

const (
	asking   state = iota // being decided about
	expected              // accepted; the connection is about to come
	seated                // connected
)

// expectedFor bounds how long an accepted caller is waited for. It takes
// milliseconds; who left meanwhile never comes.
const expectedFor = 10 * time.Second

// request decides about a caller. The listener calls it in a goroutine of its
// own for each caller, at most its backlog of them, so that it may wait for the
// hook while others come and go.
func (p *Port) request(r *srtcore.ConnRequest) error {
	g := &guest{id: r.StreamID, from: unmapped(r.RemoteAddr)}
	accepted := false
	defer func() {
		if !accepted {
			p.forget(g)
		}
	}()
	h, no := p.admit(g, r)
	if no == nil {
		no = p.prove(g, r)
	}
	if no == nil {
		no = p.confirm(g, h)
	}
	if no != nil {
		p.refused(no.about(g))
		return &srtcore.RejectError{Reason: no.Code}
	}
	accepted = true
	r.OnRefused = func(reason srtcore.RejectReason) { p.lost(g, reason) }
	return nil
}

func unmapped(a net.Addr) netip.AddrPort {
	u, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := u.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// admit applies the rules and counts the caller in; the hook is yet to be asked.
func (p *Port) admit(g *guest, r *srtcore.ConnRequest) (*hook, *Refusal) {
	var err error
	g.wish, err = parseWish(g.id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if no := p.rules.address(g.from.Addr()); no != nil {
		return nil, no
	}
	if err != nil {
		return nil, badID(err)
	}
	u, no := p.rules.user(&g.wish)
	if no != nil {
		return nil, no
	}
	if p.closed {
		return nil, refuse("closing", srtcore.RejClose, "the listener is being closed")
	}
	e, other := p.find(&g.wish)
	switch {
	case other:
		return nil, refuse("mode", srtcore.RejBadMode, "the stream is not there to "+g.mode.String()+": m=publish sends, m=request receives")
	case e == nil:
		return nil, refuse("stream", srtcore.RejNotFound, "no route has a stream of this name")
	}
	if no := setSecret(r, string(p.rules.secret(u, e.ref)), p.target.Config.EnforcedEncryption); no != nil {
		return nil, no
	}
	g.end, g.since = e, time.Now()
	if no := p.room(g); no != nil {
		return nil, no
	}
	g.at.here++
	g.rival.look(e.owner, g.from.Addr(), g.since)
	p.guests[g] = struct{}{}
	return p.rules.hook, nil
}

func badID(err error) *Refusal {
	if errors.Is(err, errMode) {
		return refuse("mode", srtcore.RejBadMode, err.Error())
	}
	// The error of the parser quotes parts of the stream id.
	if errors.Is(err, errNoName) || errors.Is(err, errEscape) || errors.Is(err, errText) {
		return refuse("stream-id", srtcore.RejBadRequest, err.Error())
	}
	return refuse("stream-id", srtcore.RejBadRequest, "the stream id cannot be read: write #!::r=NAME,m=publish or NAME")
}

// setSecret sets the passphrase, and refuses who lacks one, or has one where
// none is.
func setSecret(r *srtcore.ConnRequest, secret string, enforced bool) *Refusal {
	if err := r.SetPassphrase(secret); err != nil {
		return refuse("passphrase", srtcore.RejUnsecure, "the passphrase of the configuration is not valid: allowed 10..80 bytes")
	}
	switch {
	case !enforced || r.Encrypted == (secret != ""):
		return nil
	case r.Encrypted:
		return refuse("passphrase", srtcore.RejUnsecure, "the caller encrypts, but there is no passphrase for him here")
	}
	return refuse("passphrase", srtcore.RejUnsecure, "the caller does not encrypt, but needs a passphrase")
}

// crowd is who is there already, as far as it matters to one caller.
type crowd struct{ asking, askingOfOne, in, inOfOne, inOfEnd int }

// count sorts the guests other than g. The lock is held.
func (p *Port) count(g *guest) (c crowd) {
	p.sweep(time.Now())
	for o := range p.guests {
		same := o.from.Addr() == g.from.Addr()
		switch {
		case o == g:
		case o.state == asking:
			c.asking++
			if same {
				c.askingOfOne++
			}
		default:
			c.in++
			if same {
				c.inOfOne++
			}
			if o.end == g.end {
				c.inOfEnd++
			}
		}
	}
	return c
}

// room keeps those out for whom there is none, and those who come too thick. The
// lock is held.
func (p *Port) room(g *guest) *Refusal {
	c, now := p.count(g), time.Now()
	if no := p.places(g, c); no != nil {
		return no
	}
	g.at = p.patrons.of(g.from.Addr(), now)
	switch {
	case c.asking >= mostAsking, c.askingOfOne >= mostAskingOfOne, len(g.end.ready) >= mostReady:
		return refuse("limit", srtcore.RejOverload, "too many callers at once")
	case g.at.wrong.left(now, wrongBurst, wrongRate) < 1:
		return refuse("limit", srtcore.RejOverload, "too many wrong passphrases from the address: wait some seconds")
	}
	return nil
}

// places holds the limits of the configuration. Who is still being decided about
// has no place yet, or a slow hook would give all of them to whoever calls. The
// lock is held.
func (p *Port) places(g *guest, c crowd) *Refusal {
	r := p.rules
	switch {
	case r.maxConnections > 0 && c.in >= r.maxConnections:
		return refuse("limit", srtcore.RejOverload, "the listener has max-connections already")
	case r.maxPerAddress > 0 && c.inOfOne >= r.maxPerAddress:
		return refuse("limit", srtcore.RejOverload, "the address has max-per-address connections already")
	case g.end.most > 0 && c.inOfEnd >= g.end.most:
		return refuse("limit", srtcore.RejOverload, "the route has max-players already")
	}
	return nil
}

// prove refuses who does not have the passphrase, before anybody is asked about
// him or has to give way to him.
func (p *Port) prove(g *guest, r *srtcore.ConnRequest) *Refusal {
	err := r.CheckPassphrase()
	if err == nil {
		return nil
	}
	code := srtcore.RejBadSecret
	if rej, ok := errors.AsType[*srtcore.RejectError](err); ok {
		code = rej.Reason
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g.at.wrong.taken++
	if code != srtcore.RejBadSecret {
		return refuse("passphrase", code, code.String())
	}
	return refuse("passphrase", code, "the passphrase is wrong")
}

// sweep forgets guests that have left. The lock is held.
func (p *Port) sweep(now time.Time) {
	for g := range p.guests {
		if g.over(now) {
			p.strike(g)
		}
	}
}

func (g *guest) over(now time.Time) bool {
	switch g.state {
	case expected:
		return now.Sub(g.since) > expectedFor
	case seated:
		select {
		case <-g.done:
			return true
		default:
		}
	}
	return false
}

func (p *Port) forget(g *guest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strike(g)
}

// strike takes a guest off every list. The lock is held.
func (p *Port) strike(g *guest) {
	if _, ok := p.guests[g]; ok && g.state == asking {
		g.at.here--
	}
	delete(p.guests, g)
	if g.end != nil && g.end.claim == g {
		g.end.claim = nil
	}
}

// confirm asks the hook and, for a publisher, settles whether the place is free.
func (p *Port) confirm(g *guest, h *hook) *Refusal {
	if h != nil {
		p.mu.Lock()
		name, now := p.cfg.Name, time.Now()
		ok := g.at.asks.left(now, askBurst, askRate) >= 1
		if ok {
			g.at.asks.taken++
		}
		p.mu.Unlock()
		if !ok {
			return refuse("limit", srtcore.RejOverload, "the address has the hook asked too often: wait some seconds")
		}
		no := h.ask(p.ctx, g.at.turn, question{
			Peer: g.from.String(), StreamID: g.id, Mode: g.mode.String(), Stream: g.stream, User: g.user, Listener: name,
		})
		if no != nil {
			return no
		}
	}
	if g.mode == modePublish {
		return p.claim(p.ctx, g)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.expect(g)
}

// expect marks g as accepted. The lock is held.
func (p *Port) expect(g *guest) *Refusal {
	if g.end.closed {
		return refuse("stream", srtcore.RejNotFound, "the route has ended")
	}
	if no := p.places(g, p.count(g)); no != nil { // others may have been faster
		return no
	}
	g.at.here--
	g.state, g.since = expected, time.Now()
	return nil
}

// claim waits until the place of the publisher is known to be taken or free.
func (p *Port) claim(ctx context.Context, g *guest) *Refusal {
	t := time.NewTicker(rivalLook)
	defer t.Stop()
	for {
		no, wait := p.tryClaim(g)
		if !wait {
			return no
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return refuse("closing", srtcore.RejClose, "the listener is being closed")
		}
	}
}

func (p *Port) tryClaim(g *guest) (no *Refusal, wait bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, e := time.Now(), g.end
	if c := e.claim; c != nil && c != g && !c.over(now) {
		return refuse("busy", srtcore.RejConflict, "another publisher of this stream is just connecting"), false
	}
	switch g.rival.look(e.owner, g.from.Addr(), now) {
	case rivalLives:
		return refuse("busy", srtcore.RejConflict, "the stream has a publisher"), false
	case rivalUnclear:
		return nil, true
	}
	if no := p.expect(g); no != nil {
		return no, false
	}
	e.claim = g
	return nil, false
}

// lost is told that an accepted caller was refused by the listener itself.
func (p *Port) lost(g *guest, reason srtcore.RejectReason) {
	p.forget(g)
	no := refuse("closing", reason, reason.String())
	switch reason {
	case srtcore.RejBadSecret, srtcore.RejUnsecure:
		no.Reason, no.Text = "passphrase", "the passphrase is wrong"
	case srtcore.RejTimeout:
		no.Reason = "timeout"
	}
	p.refused(no.about(g))
}
