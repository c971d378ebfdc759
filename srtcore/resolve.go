package srtcore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/loop"
)

// splitAddr splits "host:port" and looks the port up.
func splitAddr(ctx context.Context, addr string) (host string, port uint16, err error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("%w; give host:port, an IPv6 host in brackets", err)
	}
	n, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return "", 0, fmt.Errorf("%w; give a port number from 1 to 65535", err)
	}
	return host, uint16(n), nil
}

// lookupHost returns the addresses of a host name or of a literal address.
func lookupHost(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	return addrs, nil
}

// resolvePeer returns the addresses that a caller tries, in order.
func resolvePeer(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	host, port, err := splitAddr(ctx, addr)
	switch {
	case err != nil:
		return nil, err
	case host == "":
		return nil, errors.New("no host to call; give host:port")
	case port == 0:
		return nil, errors.New("no port to call; give host:port")
	}
	addrs, err := lookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	peers := make([]netip.AddrPort, len(addrs))
	for i, a := range addrs {
		peers[i] = netip.AddrPortFrom(callable(a), port)
	}
	return peers, nil
}

// callable turns "any address" into this host's own, which is where the system
// sends such packets, so that the answer comes from the address that was called.
func callable(a netip.Addr) netip.Addr {
	switch a {
	case netip.IPv4Unspecified():
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case netip.IPv6Unspecified():
		return netip.IPv6Loopback()
	}
	return a
}

// resolveBind returns the address to bind, and whether the host was left open.
func resolveBind(ctx context.Context, addr string) (bind netip.AddrPort, open bool, err error) {
	host, port, err := splitAddr(ctx, addr)
	if err != nil {
		return bind, false, err
	}
	if host == "" || host == "*" {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), port), true, nil
	}
	addrs, err := lookupHost(ctx, host)
	if err != nil {
		return bind, false, err
	}
	return netip.AddrPortFrom(addrs[0], port), false, nil
}

// socketConfig is the socket's part of c.
func (c *Config) socketConfig() loop.SocketConfig {
	return loop.SocketConfig{
		RecvBuf: c.UDPRcvBuf, SendBuf: c.UDPSndBuf,
		TTL: c.IPTTL, TOS: c.IPTOS, V6Only: c.IPv6Only, Device: c.BindToDevice,
	}
}

// callerSocket says which socket a call to peer goes through: callers that want
// the same share one.
func (c *Config) callerSocket(ctx context.Context, peer netip.Addr) (loop.SocketKey, error) {
	key := loop.SocketKey{Config: c.socketConfig()}
	if peer.Is6() {
		key.Config.V6Only = 1
	} else {
		key.Config.V6Only = -1
	}
	key.Bind = netip.AddrPortFrom(anyAddr(peer), 0)
	if c.LocalAddr == "" {
		return key, nil
	}
	bind, open, err := resolveBind(ctx, c.LocalAddr)
	switch {
	case err != nil:
		return key, fmt.Errorf("local address %q: %w", c.LocalAddr, err)
	case open || bind.Addr().IsUnspecified():
		key.Bind = netip.AddrPortFrom(anyAddr(peer), bind.Port())
	case bind.Addr().Is4() != peer.Is4():
		return key, fmt.Errorf("local address %s and peer address %s are of different families", bind.Addr(), peer)
	default:
		key.Bind = bind
	}
	return key, nil
}

// anyAddr is the wildcard of the family of a.
func anyAddr(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}
