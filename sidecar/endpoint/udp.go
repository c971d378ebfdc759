package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// udpEnd is plain UDP, one message a datagram. A source binds to the address;
// a multicast address is joined.
type udpEnd struct {
	host, port string
	pktSize    int
	iface      string
	buffer     int
}

const (
	maxDatagram   = 65507
	udpBufferSize = 4 << 20
)

func parseUDP(raw string) (*udpEnd, error) {
	rest, query := splitQuery(raw)
	addr := strings.TrimPrefix(strings.TrimPrefix(rest[len("udp:"):], "//"), "@")
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return nil, &URLError{Problem: "udp:// needs host:port, as in udp://127.0.0.1:5000 or udp://:5000"}
	}
	e := &udpEnd{host: host, port: port, pktSize: MessageSize, buffer: udpBufferSize}
	opts, err := options(query, "pkt_size", "iface", "buffer_size")
	if err != nil {
		return nil, err
	}
	for k, v := range opts {
		if err := e.set(k, v); err != nil {
			return nil, err
		}
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
	}
	return err
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
	return &net.UDPAddr{IP: ips[0].IP, Zone: ips[0].Zone, Port: port}, nil
}

// OpenSource implements SourceEnd.
func (e *udpEnd) OpenSource(ctx context.Context) (Source, error) {
	a, err := e.resolve(ctx)
	if err != nil {
		return nil, err
	}
	c, err := e.bind(a)
	if err != nil {
		return nil, err
	}
	c.SetReadBuffer(e.buffer) // the system may grant less; a small buffer still works
	return &udpSource{c: c, buf: make([]byte, maxDatagram)}, nil
}

func (e *udpEnd) bind(a *net.UDPAddr) (*net.UDPConn, error) {
	if !a.IP.IsMulticast() {
		return net.ListenUDP("udp", a)
	}
	var ifi *net.Interface
	if e.iface != "" {
		var err error
		if ifi, err = net.InterfaceByName(e.iface); err != nil {
			return nil, fmt.Errorf("iface %q: %w", e.iface, err)
		}
	}
	return net.ListenMulticastUDP("udp", ifi, a)
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
	c, err := net.DialUDP("udp", nil, a)
	if err != nil {
		return nil, err
	}
	c.SetWriteBuffer(e.buffer)
	return &udpSink{c: c, pktSize: e.pktSize}, nil
}

type udpSink struct {
	c       *net.UDPConn
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

func (s *udpSink) write(b []byte) error {
	_, err := s.c.Write(b)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

func (s *udpSink) Close() error { return s.c.Close() }
func (s *udpSink) Abort()       { s.c.Close() }
