package srtcore

import (
	"net"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore/internal/loop"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// Conn is one SRT connection. It is a net.Conn whose Read and Write carry whole
// messages. All methods may be called by several goroutines at once.
type Conn struct {
	lc            *loop.Conn
	linger        time.Duration
	since         mono.Time // established, as far as this side knows
	maxPayload    int
	records       int // of the flight recorder, about
	local, remote *net.UDPAddr

	readDeadline, writeDeadline deadline

	statsMu   sync.Mutex
	lastStats Stats // of the previous StatsInterval
}

var _ net.Conn = (*Conn)(nil)

func newConn(cfg *Config) *Conn { return &Conn{linger: cfg.Linger, records: cfg.TraceRecords} }

// establish copies what no longer changes.
func (c *Conn) establish() {
	info := c.lc.Info()
	c.since = loop.Now()
	c.maxPayload = info.MaxPayload
	c.local = net.UDPAddrFromAddrPort(info.Local)
	c.remote = net.UDPAddrFromAddrPort(info.Remote)
	c.readDeadline.kick = c.lc.KickRead
	c.writeDeadline.kick = c.lc.KickWrite
}

// LocalAddr returns this side's address, a *net.UDPAddr: of a listener at a
// wildcard address the one that was called, if the system tells.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the peer's address, a *net.UDPAddr.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// StreamID returns the stream id that the caller gave.
func (c *Conn) StreamID() string { return c.lc.Info().StreamID }

// PeerVersion returns the peer's SRT version, 0x00MMmmpp.
func (c *Conn) PeerVersion() uint32 { return c.lc.Info().PeerVersion }

// RcvLatency returns the negotiated delay of this side's receiver.
func (c *Conn) RcvLatency() time.Duration { return c.lc.Info().RcvLatency }

// PeerLatency returns the negotiated delay of the peer's receiver.
func (c *Conn) PeerLatency() time.Duration { return c.lc.Info().PeerLatency }

// MaxPayload returns the longest message that Write takes, in bytes.
func (c *Conn) MaxPayload() int { return c.maxPayload }

// Buffered returns the number of messages written and not yet acknowledged by
// the peer.
func (c *Conn) Buffered() int { return c.lc.Unacked() }

// Done is closed when the connection has ended for both directions and all that
// was received has been handed over to this side's readers' queue.
func (c *Conn) Done() <-chan struct{} { return c.lc.Done() }

// Err returns nil before Done, and then why the connection ended: ErrClosed,
// ErrPeerClosed, ErrPeerIdle or another error.
func (c *Conn) Err() error {
	select {
	case <-c.lc.Done():
		return publicError(c.lc.Cause())
	default:
		return nil
	}
}

// SetDeadline sets the deadline of reads and writes. The zero time is none.
func (c *Conn) SetDeadline(t time.Time) error {
	c.readDeadline.set(t)
	c.writeDeadline.set(t)
	return nil
}

// SetReadDeadline sets the instant after which reads return ErrTimeout, pending
// ones included. The zero time is none.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.readDeadline.set(t)
	return nil
}

// SetWriteDeadline sets the instant after which writes return ErrTimeout,
// pending ones included. The zero time is none.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.writeDeadline.set(t)
	return nil
}

// Stats returns a consistent snapshot of the connection's counters. Interval
// fields count from the beginning.
func (c *Conn) Stats() Stats { return convertStats(c.lc.Stats()) }

// StatsInterval is like Stats, but interval fields count from the previous call
// of StatsInterval, as libsrt's do with clear set.
func (c *Conn) StatsInterval() Stats {
	c.statsMu.Lock()
	defer c.statsMu.Unlock()
	s := c.Stats()
	d := s.Sub(c.lastStats)
	c.lastStats = s
	return d
}
