package srtcore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/weirline/weirline/srtcore/internal/loop"
)

// Listener accepts callers on one UDP port.
type Listener struct {
	cfg  Config
	ll   *loop.Listener
	addr *net.UDPAddr
}

// Listen listens at addr, "host:port". Without a host, and with [::], it serves
// IPv4 and IPv6 unless cfg.IPv6Only is 1; port 0 chooses a free one, see Addr.
// ctx bounds the look-up of a host name only. A nil cfg stands for
// DefaultConfig.
func Listen(ctx context.Context, addr string, cfg *Config) (*Listener, error) {
	own, err := cfg.prepare()
	if err != nil {
		return nil, err
	}
	l, err := own.listen(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("srt: listen %s: %w", addr, publicError(err))
	}
	return l, nil
}

func (c *Config) listen(ctx context.Context, addr string) (*Listener, error) {
	r, err := c.runtime()
	if err != nil {
		return nil, err
	}
	bind, open, err := resolveBind(ctx, addr)
	if err != nil {
		return nil, cause(ctx, err)
	}
	l := &Listener{cfg: *c}
	lc := l.loopConfig(bind)
	if open && c.IPv6Only < 0 {
		lc.Socket.V6Only = 0
	}
	l.ll, err = r.group.Listen(lc)
	if open && c.IPv6Only < 1 && errors.Is(err, syscall.EAFNOSUPPORT) {
		lc.Bind = netip.AddrPortFrom(netip.IPv4Unspecified(), bind.Port())
		l.ll, err = r.group.Listen(lc)
	}
	if err != nil {
		return nil, err
	}
	l.addr = net.UDPAddrFromAddrPort(l.ll.Addr())
	return l, nil
}

func (l *Listener) loopConfig(bind netip.AddrPort) loop.ListenConfig {
	ec := l.cfg.engineConfig()
	lc := loop.ListenConfig{Bind: bind, Socket: l.cfg.socketConfig(), Engine: &ec, Backlog: l.cfg.Backlog}
	if l.cfg.OnRequest != nil {
		lc.Decide = l.cfg.decide
	}
	return lc
}

// Accept returns the next connection. It waits until there is one, ctx ends or
// the Listener is closed (ErrClosed).
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	for {
		lc, err := l.ll.Accept()
		switch {
		case err == nil:
			return l.accepted(lc), nil
		case !errors.Is(err, loop.ErrAgain):
			return nil, publicError(err)
		}
		if err := l.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// wait waits for a connection to come or the Listener to be closed.
func (l *Listener) wait(ctx context.Context) error {
	ch, ok := l.ll.Arm()
	if !ok {
		return nil
	}
	defer l.ll.Disarm()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Listener) accepted(lc *loop.Conn) *Conn {
	c := newConn(&l.cfg)
	c.lc = lc
	lc.Owner = c
	c.establish()
	return c
}

// Addr returns the address listened at, a *net.UDPAddr.
func (l *Listener) Addr() net.Addr { return l.addr }

// Close stops listening: calls of Accept return ErrClosed, callers that nobody
// accepted are dropped. Connections that were accepted live on, and the port
// stays bound until the last of them has ended; another Listen of the same
// Runtime may take the port over meanwhile.
func (l *Listener) Close() error {
	if !l.ll.Close() {
		return ErrClosed
	}
	return nil
}

// NetListener returns l as a net.Listener. Read and Write of its connections
// carry whole messages.
func (l *Listener) NetListener() net.Listener { return netListener{l} }

type netListener struct{ l *Listener }

func (n netListener) Addr() net.Addr { return n.l.Addr() }
func (n netListener) Close() error   { return n.l.Close() }

func (n netListener) Accept() (net.Conn, error) {
	c, err := n.l.Accept(context.Background())
	if err != nil {
		return nil, err
	}
	return c, nil
}
