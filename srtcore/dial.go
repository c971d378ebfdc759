package srtcore

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/loop"
	"github.com/weirline/weirline/srtcore/wire"
)

// nextAddress is how long one address of a host name may keep silent before the
// next is called as well (as in RFC 8305).
const nextAddress = 250 * time.Millisecond

// Dial calls the listener at addr, "host:port", and returns when the connection
// is established. Of a host name with several addresses all are tried, in order,
// within cfg.ConnTimeout; the first to answer counts. The end of ctx ends the
// attempt, not the connection. A nil cfg stands for DefaultConfig.
//
// errors.As finds a *RejectError if the listener refused, errors.Is
// ErrConnTimeout if nobody answered.
func Dial(ctx context.Context, addr string, cfg *Config) (*Conn, error) {
	own, err := cfg.prepare()
	if err != nil {
		return nil, err
	}
	c, err := own.dial(ctx, addr)
	if err != nil {
		return nil, dialError(addr, &own, err)
	}
	return c, nil
}

// prepare returns a checked copy.
func (c *Config) prepare() (Config, error) {
	own := DefaultConfig()
	if c != nil {
		own = *c
	}
	return own, own.Validate()
}

func (c *Config) dial(ctx context.Context, addr string) (*Conn, error) {
	r, err := c.runtime()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.ConnTimeout, ErrConnTimeout)
	defer cancel()
	peers, err := resolvePeer(ctx, addr)
	if err != nil {
		return nil, cause(ctx, err)
	}
	d := dialer{cfg: c, group: r.group, peers: peers, news: make(chan struct{}, 1)}
	return d.run(ctx)
}

// cause prefers the reason why ctx ended, if it did.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// dialer calls the addresses of one host.
type dialer struct {
	cfg      *Config
	group    *loop.Group
	peers    []netip.AddrPort // not yet called
	attempts []*Conn
	news     chan struct{} // one of the attempts has an outcome
	err      error         // of the first that failed
}

func (d *dialer) run(ctx context.Context) (*Conn, error) {
	defer d.abort()
	timer := time.NewTimer(nextAddress)
	defer timer.Stop()
	d.next(ctx)
	for {
		if c := d.winner(); c != nil {
			return c, nil
		}
		if len(d.attempts) == 0 {
			if len(d.peers) == 0 || refused(d.err) {
				return nil, d.err
			}
			d.next(ctx)
			continue
		}
		select {
		case <-d.news:
		case <-timer.C:
			d.next(ctx)
			timer.Reset(nextAddress)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// next calls the next address.
func (d *dialer) next(ctx context.Context) {
	if len(d.peers) == 0 {
		return
	}
	peer := d.peers[0]
	d.peers = d.peers[1:]
	key, err := d.cfg.callerSocket(ctx, peer.Addr())
	if err != nil {
		d.failed(err)
		return
	}
	c := newConn(d.cfg)
	ec := d.cfg.engineConfig()
	c.lc, err = d.group.Dial(loop.DialConfig{Peer: peer, Engine: &ec, Socket: key, Owner: c, News: d.news})
	if err != nil {
		d.failed(publicError(err))
		return
	}
	d.attempts = append(d.attempts, c)
}

func (d *dialer) failed(err error) {
	if d.err == nil || refused(err) {
		d.err = err
	}
}

// winner takes the established connection out of the attempts, and those that
// failed.
func (d *dialer) winner() *Conn {
	left := d.attempts[:0]
	var won *Conn
	for _, c := range d.attempts {
		switch {
		case won == nil && isClosed(c.lc.Established()):
			won = c
		case isClosed(c.lc.Done()):
			d.failed(publicError(c.lc.Cause()))
		default:
			left = append(left, c)
		}
	}
	d.attempts = left
	if won != nil {
		won.establish()
	}
	return won
}

// abort ends the attempts that did not win.
func (d *dialer) abort() {
	for _, c := range d.attempts {
		c.lc.Abort()
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// refused reports whether a listener said no, which no other address cures.
func refused(err error) bool {
	_, ok := errors.AsType[*RejectError](err)
	return ok
}

// publicError turns the engine's and the loop's errors into this package's.
func publicError(err error) error {
	if r, ok := errors.AsType[*engine.RejectError](err); ok {
		return &RejectError{Reason: r.Reason, Remote: r.Remote}
	}
	switch {
	case errors.Is(err, engine.ErrConnTimeout):
		return ErrConnTimeout
	case errors.Is(err, engine.ErrPeerIdle):
		return ErrPeerIdle
	case errors.Is(err, engine.ErrPeerShutdown):
		return ErrPeerClosed
	case errors.Is(err, loop.ErrClosed):
		return ErrClosed
	}
	return err
}

// dialError says who was called, what went wrong and what can be done.
func dialError(addr string, cfg *Config, err error) error {
	if hint := dialHint(cfg, err); hint != "" {
		return fmt.Errorf("srt: dial %s: %w; %s", addr, err, hint)
	}
	return fmt.Errorf("srt: dial %s: %w", addr, err)
}

func dialHint(cfg *Config, err error) string {
	if errors.Is(err, ErrConnTimeout) {
		return fmt.Sprintf("check that a listener runs there and that UDP passes the firewall (waited %v)", cfg.ConnTimeout)
	}
	r, ok := errors.AsType[*RejectError](err)
	if !ok {
		return ""
	}
	return rejectHints[r.Reason]
}

var rejectHints = map[wire.RejectReason]string{
	RejBacklog:    "the listener takes no more callers now; try again later",
	RejVersion:    "one side is too old for the other; update it or lower its minimum version",
	RejBadSecret:  "set the same passphrase on both sides",
	RejUnsecure:   "set the same passphrase on both sides, or on neither",
	RejMessageAPI: "the listener is not in live mode",
	RejCongestion: "the listener is not in live mode",
	RejFilter:     "turn the listener's packet filter off",
	RejGroup:      "the listener wants connection groups",
	RejCryptoMode: "set the listener's cipher mode to AES-CTR",

	RejPredefined:   "the listener refused the stream id or the address",
	RejBadRequest:   "the listener does not understand the stream id",
	RejUnauthorized: "the listener wants other credentials in the stream id",
	RejForbidden:    "the listener does not allow this stream id",
	RejNotFound:     "the listener knows no such resource",
	RejBadMode:      "the listener does not serve this mode (publish or request)",
	RejConflict:     "somebody else uses this resource",
}
