package udp

import (
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// socket is the Linux socket: a descriptor of its own, unknown to the runtime's
// poller, used by raw system calls that never block. The receiving and sending
// halves get their memory when first used.
type socket struct {
	fd    int
	local netip.AddrPort
	v6    bool // the family of the descriptor
	any   bool // bound to a wildcard: source addresses matter
	gso   bool
	gro   bool
	zones zones
	recv  *receiver
	send  *sender
	count Counters
}

func open(laddr netip.AddrPort, cfg Config) (backend, error) {
	if cfg.Portable {
		return openPortable(laddr, cfg)
	}
	s, err := openSocket(laddr, cfg)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openSocket(laddr netip.AddrPort, cfg Config) (*socket, error) {
	v6 := laddr.Addr().Is6()
	fd := takeInherited(laddr)
	bound := fd >= 0
	if !bound {
		family := unix.AF_INET
		if v6 {
			family = unix.AF_INET6
		}
		var err error
		if fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP); err != nil {
			return nil, err
		}
	}
	s := &socket{fd: fd, v6: v6, any: laddr.Addr().IsUnspecified()}
	if err := s.setup(laddr, cfg, bound); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return s, nil
}

// setup sets the options and binds; every option is set before the first
// datagram can come in. A socket that is bound already keeps its V6Only.
func (s *socket) setup(laddr netip.AddrPort, cfg Config, bound bool) error {
	if err := setOptions(s.fd, s.v6, cfg); err != nil {
		return err
	}
	if s.v6 && cfg.V6Only >= 0 && !bound {
		if err := unix.SetsockoptInt(s.fd, unix.SOL_IPV6, unix.IPV6_V6ONLY, cfg.V6Only); err != nil {
			return option("IPV6_V6ONLY", err)
		}
	}
	if s.any {
		if err := askPacketInfo(s.fd, s.v6); err != nil {
			return err
		}
	}
	setBuffers(s.fd, cfg)
	s.setOffload(cfg)
	// Without it a datagram's arrival is when it is read.
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	if bound {
		return s.learnLocal()
	}
	if err := unix.Bind(s.fd, s.bindAddr(laddr)); err != nil {
		return err
	}
	return s.learnLocal()
}

// askPacketInfo asks for the local address of every datagram; an IPv6 socket
// tells that of IPv4 datagrams as a mapped address.
func askPacketInfo(fd int, v6 bool) error {
	if v6 {
		return option("IPV6_RECVPKTINFO", unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_RECVPKTINFO, 1))
	}
	return option("IP_PKTINFO", unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_PKTINFO, 1))
}

// setOffload finds out what the kernel can do. Setting UDP_SEGMENT to 0 changes
// nothing but fails where trains are unknown.
func (s *socket) setOffload(cfg Config) {
	s.gso = !cfg.NoGSO && unix.SetsockoptInt(s.fd, unix.SOL_UDP, unix.UDP_SEGMENT, 0) == nil
	s.gro = !cfg.NoGRO && unix.SetsockoptInt(s.fd, unix.SOL_UDP, unix.UDP_GRO, 1) == nil
}

func (s *socket) bindAddr(a netip.AddrPort) unix.Sockaddr {
	if !s.v6 {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: s.zones.index(a.Addr().Zone())}
}

func (s *socket) learnLocal() error {
	sa, err := unix.Getsockname(s.fd)
	if err != nil {
		return err
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		s.local = netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		a := netip.AddrFrom16(sa.Addr)
		if sa.ZoneId != 0 {
			a = a.WithZone(s.zones.name(sa.ZoneId))
		}
		s.local = netip.AddrPortFrom(a, uint16(sa.Port))
	}
	return nil
}

func (s *socket) LocalAddr() netip.AddrPort { return s.local }

func (s *socket) FD() int { return s.fd }

func (s *socket) Pump(func()) {}

func (s *socket) Close() error {
	if s.fd < 0 {
		return nil
	}
	s.count = s.Counters()
	err := unix.Close(s.fd)
	if s.recv != nil {
		s.recv.close()
	}
	s.fd, s.recv, s.send = -1, nil, nil
	return err
}

func (s *socket) Counters() Counters {
	if s.fd < 0 {
		return s.count
	}
	c := s.count
	c.GSO, c.GRO = s.gso, s.gro
	c.RecvBuf, c.SendBuf = bufferSizes(s.fd)
	c.RecvDropped = kernelDrops(s.fd)
	return c
}

func (s *socket) ReadBatch(c *dgram.Cache, dst []dgram.In) (n int, more bool, err error) {
	if s.fd < 0 {
		return 0, false, net.ErrClosed
	}
	if s.recv == nil {
		s.recv = newReceiver(s, c)
	}
	return s.recv.read(c, dst)
}

func (s *socket) WriteBatch(out []dgram.Out) (n int, err error) {
	if s.fd < 0 {
		return 0, net.ErrClosed
	}
	if s.send == nil {
		s.send = newSender(s)
	}
	return s.send.write(out)
}
