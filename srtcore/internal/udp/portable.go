package udp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// portable is the socket on package net. It knows the local address of a
// datagram only if it is bound to one, and leaves source addresses to the
// system.
type portable struct {
	conn  *net.UDPConn
	raw   syscall.RawConn
	local netip.AddrPort
	to    netip.Addr // the bound address, invalid if it is a wildcard
	queue queue

	closed bool
	count  Counters
}

const defaultBuffer = 4 << 20

// bufferAsk returns the buffer size to ask for.
func bufferAsk(n int) int {
	if n > 0 {
		return n
	}
	return defaultBuffer
}

func openPortable(laddr netip.AddrPort, cfg Config) (backend, error) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return onDescriptor(raw, func(fd int) error { return setOptions(fd, laddr.Addr().Is6(), cfg) })
	}}
	pc, err := lc.ListenPacket(context.Background(), network(laddr.Addr(), cfg), laddr.String())
	if err != nil {
		return nil, err
	}
	conn := pc.(*net.UDPConn)
	raw, err := conn.SyscallConn()
	if err != nil {
		conn.Close()
		return nil, err
	}
	// What was granted is read back by Counters.
	_ = conn.SetReadBuffer(bufferAsk(cfg.RecvBuf))
	_ = conn.SetWriteBuffer(bufferAsk(cfg.SendBuf))
	p := &portable{conn: conn, raw: raw, local: localAddr(conn)}
	if !p.local.Addr().IsUnspecified() {
		p.to = p.local.Addr()
	}
	return p, nil
}

func onDescriptor(raw syscall.RawConn, f func(fd int) error) error {
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// network returns the network's name in package net: "udp" serves both families
// if bound to the IPv6 wildcard.
func network(a netip.Addr, cfg Config) string {
	switch {
	case a.Is4():
		return "udp4"
	case a.IsUnspecified() && cfg.V6Only != 1:
		return "udp"
	}
	return "udp6"
}

func localAddr(conn *net.UDPConn) netip.AddrPort {
	return unmap(conn.LocalAddr().(*net.UDPAddr).AddrPort())
}

func (p *portable) LocalAddr() netip.AddrPort { return p.local }

func (p *portable) FD() int { return -1 }

func (p *portable) Close() error {
	if p.closed {
		return nil
	}
	p.count = p.Counters()
	p.closed = true
	return p.conn.Close()
}

func (p *portable) Counters() Counters {
	if p.closed {
		return p.count
	}
	c := p.count
	_ = onDescriptor(p.raw, func(fd int) error {
		c.RecvBuf, c.SendBuf = bufferSizes(fd)
		return nil
	})
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	c.RecvCalls, c.Oversize, c.RecvDropped = p.queue.reads, p.queue.oversize, p.queue.dropped
	return c
}

// ReadBatch takes datagrams from the queue that Pump fills.
func (p *portable) ReadBatch(c *dgram.Cache, dst []dgram.In) (n int, more bool, err error) {
	if p.closed {
		return 0, false, net.ErrClosed
	}
	n, more, err = p.queue.take(c, dst)
	p.count.RecvDatagrams += uint64(n)
	return n, more, err
}

func (p *portable) WriteBatch(out []dgram.Out) (n int, err error) {
	if p.closed {
		return 0, net.ErrClosed
	}
	for i := range out {
		p.count.SendCalls++
		_, err := p.conn.WriteToUDPAddrPort(out[i].Data, unmap(out[i].To))
		switch {
		case err == nil:
			p.count.SendDatagrams++
		case errors.Is(err, syscall.ENOBUFS):
			p.count.Again++
			return i, ErrAgain
		default:
			// A peer that cannot be reached must not stop the others.
			p.count.SendErrors++
		}
	}
	return len(out), nil
}

// maxReadErrors is how many errors in a row Pump bears before it takes the
// socket for broken.
const maxReadErrors = 100

// Pump fills the queue. What the hosts of peers reported comes as an error of
// some read and is passed over.
func (p *portable) Pump(wake func()) {
	scratch := make([]byte, dgram.Size+1) // one more tells a datagram too long
	for bad := 0; ; {
		n, from, err := p.conn.ReadFromUDPAddrPort(scratch)
		switch {
		case err == nil:
		case tooLong(err):
			n = len(scratch)
		case ofPeer(err):
			continue
		default:
			if bad++; bad < maxReadErrors && !errors.Is(err, net.ErrClosed) {
				continue
			}
			p.queue.fail(err)
			wake()
			return
		}
		bad = 0
		if p.queue.put(scratch[:n], unmap(from), p.to) {
			wake()
		}
	}
}
