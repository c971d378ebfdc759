// Package udp is the UDP socket of the transport: it reads and writes datagrams
// in batches, on Linux by recvmmsg and sendmmsg with segmentation offload (GSO,
// GRO), elsewhere by a portable twin on package net with the same methods.
//
// Lives here: sockets, their options, and the cutting of trains of datagrams.
// May import: dgram, context, net, net/netip, sync, syscall, x/sys. Never: engine, wire, loop;
// this package does not know what a datagram means.
package udp

import (
	"errors"
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// Config holds the socket options; the zero value asks for the defaults.
type Config struct {
	// RecvBuf and SendBuf are the sizes of the kernel's buffers in bytes;
	// 0 asks for 4 MiB, since a tick's burst must fit into them.
	RecvBuf, SendBuf int
	// TTL and TOS go into the IP header (hop limit and traffic class with
	// IPv6); 0 or less leaves the system's.
	TTL, TOS int
	// V6Only tells whether a socket bound to [::] refuses IPv4: 0 no, 1 yes,
	// -1 as the system says.
	V6Only int
	// ReusePort lets several sockets share the port.
	ReusePort bool
	// Device binds the socket to a network interface; empty is any.
	Device string
	// NoGSO sends every datagram as a message of its own. Some kernels damage
	// trains without reporting an error, so this must be selectable.
	NoGSO bool
	// NoGRO receives every datagram as a message of its own.
	NoGRO bool
	// Portable takes the socket of package net where there is another.
	Portable bool
}

// Counters tells what a Socket did since it was opened.
type Counters struct {
	RecvCalls, RecvDatagrams uint64
	SendCalls, SendDatagrams uint64
	// Trains counts the messages that carried more than one datagram.
	Trains uint64
	// SendErrors counts the datagrams that the system refused for good.
	SendErrors uint64
	// Again counts the calls that the system put off.
	Again uint64
	// Oversize counts the received datagrams longer than dgram.Size.
	Oversize uint64
	// RecvDropped counts the datagrams lost because nobody read them in time,
	// in the kernel's buffer (a train counts once there) or in the portable
	// socket's queue.
	RecvDropped uint64
	// GSO and GRO tell whether trains are sent and received.
	GSO, GRO bool
	// RecvBuf and SendBuf are the buffer sizes that the system granted.
	RecvBuf, SendBuf int
}

// ErrAgain means that the system takes no more datagrams now.
var ErrAgain = errors.New("udp: the system takes no more datagrams now")

// Socket is a UDP socket that never blocks its owner. It belongs to one
// goroutine; only Pump runs beside it.
type Socket struct{ backend }

// backend is what the Linux socket and the portable socket have in common.
type backend interface {
	// LocalAddr returns the address the socket is bound to.
	LocalAddr() netip.AddrPort
	// FD returns the descriptor to be polled, or -1 if there is none.
	FD() int
	// ReadBatch fills dst with received datagrams, whose Bufs come from c, and
	// returns their number. It never blocks; 0 without an error means that
	// nothing is there. more says that another call is worth while.
	ReadBatch(c *dgram.Cache, dst []dgram.In) (n int, more bool, err error)
	// WriteBatch sends out in order and returns the number of datagrams that
	// the system took, or refused for good (these are counted). With ErrAgain
	// the rest should be tried later.
	WriteBatch(out []dgram.Out) (n int, err error)
	// Pump reads until the socket is closed, and calls wake when datagrams are
	// there after there were none. A socket with a descriptor needs no Pump:
	// there it returns at once.
	Pump(wake func())
	// Close closes the socket; another call does nothing.
	Close() error
	// Counters returns the counters; it belongs to the owner like the rest.
	Counters() Counters
}

// Listen opens a socket bound to laddr. Bound to [::] it serves IPv4 as well,
// unless cfg.V6Only is 1.
func Listen(laddr netip.AddrPort, cfg Config) (*Socket, error) {
	laddr = unmap(laddr)
	if !laddr.IsValid() {
		return nil, errors.New("udp: listen: no local address given")
	}
	b, err := open(laddr, cfg)
	if err != nil {
		return nil, listenError(laddr, cfg, err)
	}
	return &Socket{b}, nil
}

// unmap turns an IPv4-mapped IPv6 address into the IPv4 address it stands for.
func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
