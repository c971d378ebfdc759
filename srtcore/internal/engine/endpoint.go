package engine

import (
	"encoding/binary"
	"io"
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// Endpoint is everything SRT on one UDP port: the connections, told apart by
// their Destination SRT Socket ID, and at most one listener.
type Endpoint struct {
	cache    *dgram.Cache
	rand     io.Reader
	conns    table
	accepted accepted
	nextID   wire.SocketID
	lis      *listener

	replies  []reply
	events   []Event
	counters EndpointCounters
	arrived  mono.Time // of the datagram that is being handled

	// Scratch space of the decoders, one for all connections.
	ranges  []wire.SeqRange
	exts    []wire.Extension
	scratch []byte
}

// reply is a handshake message that belongs to no connection.
type reply struct {
	data []byte
	to   netip.AddrPort
	from netip.Addr
}

// maxReplies bounds the answers of one turn; what is beyond is lost, and the
// callers ask again.
const maxReplies = 512

// EndpointCounters counts datagrams that reached no connection.
type EndpointCounters struct {
	Short, UnknownID, WrongPeer, BadHandshake, BadCookie, NotListening, RepliesDropped uint64
}

// NewEndpoint returns an Endpoint without connections.
func NewEndpoint(cfg EndpointConfig) *Endpoint {
	e := &Endpoint{
		cache:    cfg.Cache,
		rand:     cfg.Rand,
		accepted: make(accepted),
	}
	e.nextID = wire.SocketID(e.randUint32() & socketIDMask)
	return e
}

// socketIDMask keeps own socket ids below bit 30, which libsrt uses for groups.
const socketIDMask = 0x3FFFFFFF

// Conns returns the number of connections that are not dead.
func (e *Endpoint) Conns() int { return e.conns.count }

// Counters returns what reached no connection.
func (e *Endpoint) Counters() EndpointCounters { return e.counters }

// HandleDatagram takes a received datagram and its Buf. It returns the Conn
// that was touched and must be drained, or nil.
func (e *Endpoint) HandleDatagram(now mono.Time, d dgram.In) *Conn {
	e.arrived = now - mono.Time(d.Lag)
	b := d.Buf.Bytes()
	if len(b) < wire.HeaderSize {
		e.counters.Short++
		e.cache.Put(d.Buf)
		return nil
	}
	id := wire.Dest(b)
	if id == 0 {
		c := e.handleRequest(now, d)
		e.cache.Put(d.Buf)
		return c
	}
	c := e.conns.find(id)
	if c == nil || c.peer != d.From {
		e.countStray(c)
		e.cache.Put(d.Buf)
		return nil
	}
	c.handleDatagram(now, d.Buf)
	return c
}

func (e *Endpoint) countStray(c *Conn) {
	if c == nil {
		e.counters.UnknownID++
		return
	}
	e.counters.WrongPeer++
}

// PollTransmit appends the Endpoint's own answers to the batch.
func (e *Endpoint) PollTransmit(_ mono.Time, b *dgram.Batch) {
	for i := range e.replies {
		r := &e.replies[i]
		copy(b.AddControl(len(r.data), r.to, r.from), r.data)
		r.data = nil
	}
	e.replies = e.replies[:0]
}

// PollEvent returns the next request for a connection.
func (e *Endpoint) PollEvent() (Event, bool) {
	if len(e.events) == 0 {
		return Event{}, false
	}
	ev := e.events[0]
	e.events = e.events[1:]
	if len(e.events) == 0 {
		e.events = nil
	}
	return ev, true
}

// HandleTimeout lets time pass for the Endpoint itself.
func (e *Endpoint) HandleTimeout(now mono.Time) {
	if e.lis != nil {
		e.lis.advance(now)
	}
}

// PollTimeout returns when the Endpoint itself wants HandleTimeout.
func (e *Endpoint) PollTimeout() mono.Time {
	if e.lis != nil {
		return e.lis.nextDeadline()
	}
	return mono.Never
}

func (e *Endpoint) reply(data []byte, to netip.AddrPort, from netip.Addr) {
	if len(e.replies) >= maxReplies {
		e.counters.RepliesDropped++
		return
	}
	e.replies = append(e.replies, reply{data, to, from})
}

// newSocketID returns an id that no connection of this Endpoint has.
func (e *Endpoint) newSocketID() wire.SocketID {
	for {
		e.nextID = (e.nextID + 1) & socketIDMask
		if e.nextID != 0 && e.conns.free(e.nextID) {
			return e.nextID
		}
	}
}

func (e *Endpoint) randUint32() uint32 {
	var b [4]byte
	// Entropy that fails leaves zeros; keys are made elsewhere, with errors.
	_, _ = io.ReadFull(e.rand, b[:])
	return binary.LittleEndian.Uint32(b[:])
}

func (e *Endpoint) add(c *Conn) { e.conns.add(c) }

// remove forgets a dead connection.
func (e *Endpoint) remove(c *Conn) {
	e.conns.remove(c)
	e.accepted.remove(c)
}
