package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
)

// udpEnd is plain UDP, one message a datagram. A source binds to the address;
// a multicast address is joined.
type udpEnd struct {
	multicast
	host, port string
	source     bool
	pktSize    int
	buffer     int
	given      map[string]string // options of the URL
}

const (
	maxDatagram   = 65507
	udpBufferSize = 4 << 20
)

func parseUDP(raw string, source bool) (*udpEnd, error) {
	rest, query := splitQuery(raw)
	addr := strings.TrimPrefix(strings.TrimPrefix(rest[len("udp:"):], "//"), "@")
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return nil, &URLError{Problem: "udp:// needs host:port, as in udp://127.0.0.1:5000 or udp://:5000"}
	}
	host = strings.Replace(host, "%25", "%", 1) // of a zone, as URLs have it
	e := &udpEnd{
		host: host, port: port, source: source, pktSize: MessageSize, buffer: udpBufferSize,
		multicast: multicast{ttl: -1, loop: true, reuse: true},
	}
	allowed := []string{"pkt_size", "buffer_size", "iface", "ttl", "loop"}
	if source {
		allowed = []string{"pkt_size", "buffer_size", "iface", "source", "reuse"}
	}
	if e.given, err = options(query, allowed...); err != nil {
		return nil, err
	}
	for k, v := range e.given {
		if err := e.set(k, v); err != nil {
			return nil, err
		}
	}
	literal, _, _ := strings.Cut(host, "%")
	if ip := net.ParseIP(literal); ip != nil || host == "" {
		return e, e.fits(ip)
	}
	return e, nil
}

func (e *udpEnd) set(k, v string) (err error) {
	switch k {
	case "pkt_size":
		e.pktSize, err = parseInt(k, v, 1, maxDatagram)
	case "buffer_size":
		e.buffer, err = parseInt(k, v, 1, 1<<30)
	case "iface":
		e.iface = v
	case "source":
		e.sources, err = parseAddrs(k, v)
	case "ttl":
		e.ttl, err = parseInt(k, v, 0, 255)
	case "loop":
		e.loop, err = parseBool(k, v)
	case "reuse":
		e.reuse, err = parseBool(k, v)
	}
	return err
}

// fits reports options that mean nothing at an address that is no group.
func (e *udpEnd) fits(ip net.IP) error {
	if ip.IsMulticast() {
		for _, s := range e.sources {
			if (s.To4() == nil) != (ip.To4() == nil) {
				return &URLError{Problem: fmt.Sprintf("source %s and group %s are not of the same IP version", s, ip)}
			}
		}
		return nil
	}
	for _, k := range []string{"iface", "source", "loop", "reuse"} {
		if _, ok := e.given[k]; ok {
			return &URLError{Problem: fmt.Sprintf("option %q is for multicast addresses (224.0.0.0-239.255.255.255, ff00::/8), which %q is not", k, e.host)}
		}
	}
	return nil
}

func (e *udpEnd) URL() string    { return "udp://" + net.JoinHostPort(e.host, e.port) }
func (e *udpEnd) Traits() Traits { return Traits{Again: true} }
func (e *udpEnd) Close() error   { return nil }

func (e *udpEnd) resolve(ctx context.Context) (*net.UDPAddr, error) {
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", e.port)
	if err != nil {
		return nil, err
	}
	if e.host == "" {
		return &net.UDPAddr{Port: port}, nil
	}
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, e.host)
	if err != nil {
		return nil, err
	}
	return &net.UDPAddr{IP: ips[0].IP, Zone: ips[0].Zone, Port: port}, e.fits(ips[0].IP)
}

// OpenSource implements SourceEnd.
func (e *udpEnd) OpenSource(ctx context.Context) (Source, error) {
	a, err := e.resolve(ctx)
	if err != nil {
		return nil, err
	}
	var c *net.UDPConn
	if a.IP.IsMulticast() {
		c, err = e.listen(a)
	} else {
		c, err = net.ListenUDP("udp", a)
	}
	if err != nil {
		return nil, err
	}
	c.SetReadBuffer(e.buffer) // the system may grant less; a small buffer still works
	return &udpSource{c: c, buf: make([]byte, maxDatagram)}, nil
}

type udpSource struct {
	c   *net.UDPConn
	buf []byte
	cut [][]byte // of one datagram longer than a message
}

// ReadBatch implements Source. A datagram longer than an SRT message is cut.
func (s *udpSource) ReadBatch(dst [][]byte) (int, error) {
	for len(s.cut) == 0 {
		n, err := s.c.Read(s.buf)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			continue
		}
		if n <= MessageSize {
			dst[0] = s.buf[:n]
			return 1, nil
		}
		split(s.buf[:n], MessageSize, func(b []byte) error { s.cut = append(s.cut, b); return nil })
	}
	n := copy(dst, s.cut)
	s.cut = s.cut[:copy(s.cut, s.cut[n:])]
	return n, nil
}

func (s *udpSource) Close() error { return s.c.Close() }

// OpenSink implements SinkEnd.
func (e *udpEnd) OpenSink(ctx context.Context) (Sink, error) {
	a, err := e.resolve(ctx)
	if err != nil {
		return nil, err
	}
	s := &udpSink{pktSize: e.pktSize}
	if a.IP.IsMulticast() {
		s.c, err = e.dial(a)
		s.to = netip.AddrPortFrom(a.AddrPort().Addr().Unmap(), a.AddrPort().Port())
	} else {
		s.c, err = net.DialUDP("udp", nil, a)
	}
	if err != nil {
		return nil, err
	}
	if e.ttl >= 0 && !a.IP.IsMulticast() {
		if err := setTTL(s.c, a.IP, e.ttl); err != nil {
			s.c.Close()
			return nil, fmt.Errorf("ttl: %w", err)
		}
	}
	s.c.SetWriteBuffer(e.buffer)
	return s, nil
}

type udpSink struct {
	c       *net.UDPConn
	to      netip.AddrPort // of a socket that is not connected
	pktSize int
}

// WriteBatch implements Sink. That nobody listens at the other end is no
// error: plain UDP is sent into the dark.
func (s *udpSink) WriteBatch(msgs [][]byte) error {
	for _, m := range msgs {
		if err := split(m, s.pktSize, s.write); err != nil {
			return err
		}
	}
	return nil
}

func (s *udpSink) write(b []byte) (err error) {
	if s.to.IsValid() {
		_, err = s.c.WriteToUDPAddrPort(b, s.to)
	} else {
		_, err = s.c.Write(b)
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ENOBUFS) {
		return nil // or the system has no room: the network has lost it
	}
	return err
}

func (s *udpSink) Close() error { return s.c.Close() }
func (s *udpSink) Abort()       { s.c.Close() }
