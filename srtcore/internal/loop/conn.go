package loop

import (
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// deliverBatch and sendBatch are how many messages move at once between a
// connection's queues and the engine.
const (
	deliverBatch = 64
	sendBatch    = 64
)

// retrySend is how soon a message that the engine had no room for is offered
// again when nothing else moves the connection: the engine may drop old ones.
const retrySend = 10 * time.Millisecond

var (
	// ErrAgain: nothing to read, or no room to write, now.
	ErrAgain = errors.New("srt: not now")
	// ErrClosed: this side has closed.
	ErrClosed = errors.New("srt: closed")

	errAgain = ErrAgain
)

// Info is what stays the same about an established connection.
type Info struct {
	Local, Remote           netip.AddrPort
	StreamID                string
	PeerVersion             uint32
	RcvLatency, PeerLatency time.Duration
	MaxPayload              int
}

// Conn joins an engine.Conn with the queues to the application. The exported
// methods may be called by any goroutine; the others belong to the loop.
type Conn struct {
	loop *Loop

	// Loop's own; what every visit looks at stands together.
	eng     *engine.Conn
	sock    *socket
	unsent  bool // the outbox may hold something
	touched bool
	stalled bool
	gone    bool
	closing bool   // close the engine once the outbox is empty
	hold    int32  // ticks, counted in the loop's pace; 0: not established
	held    parcel // taken from the outbox, refused by the engine
	due     deadline
	closeBy mono.Time
	family  *family // of the listener that accepted it; nil for callers

	in      inbox
	out     outbox
	member  atomic.Pointer[membership]
	unacked atomic.Int64 // in the engine

	// Owner belongs to the public package. Set before the first use.
	Owner any

	// Written before established or done is closed, read after.
	info        Info
	cause       error
	last        engine.Stats
	established chan struct{}
	done        chan struct{}
	news        chan<- struct{} // nil for accepted ones
}

func newConn(l *Loop, cfg *engine.Config) *Conn {
	c := &Conn{loop: l, established: make(chan struct{}), done: make(chan struct{})}
	c.in.pool, c.in.sig = l.pool, newSignal()
	c.out.sig, c.out.max = newSignal(), int32(min(outboxMax, max(cfg.SndBufPkts, 1)))
	c.due.conn = c
	return c
}

// bind joins c with the engine's connection.
func (c *Conn) bind(s *socket, e *engine.Conn) {
	c.sock, c.eng = s, e
	e.User = c
	s.conns[c] = struct{}{}
	c.touch()
}

// open publishes what is known once the connection is established.
func (c *Conn) open() {
	c.info = Info{
		Local: c.sock.local(c.eng.Local()), Remote: c.eng.Peer(), StreamID: c.eng.StreamID(),
		PeerVersion: c.eng.PeerVersion(), RcvLatency: c.eng.RcvLatency(),
		PeerLatency: c.eng.PeerLatency(), MaxPayload: c.eng.MaxPayload(),
	}
	c.hold = int32(c.loop.pace.holdFor(c.info.RcvLatency, c.info.PeerLatency))
	c.loop.pace.join(int(c.hold))
	close(c.established)
	c.tell()
}

// tell says that there is news, to a caller that waits for several connections.
func (c *Conn) tell() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// touch puts c among those to be drained.
func (c *Conn) touch() {
	if !c.touched && !c.gone {
		c.touched = true
		c.sock.touched = append(c.sock.touched, c)
	}
}

func (c *Conn) expire() {
	c.eng.HandleTimeout(c.loop.now)
	if c.closing && c.loop.now >= c.closeBy {
		c.eng.Abort(c.loop.now)
	}
	c.touch()
}

// collect answers an announcement. Before the connection has a socket, and
// after its end, there is nothing to do.
func (c *Conn) collect() {
	c.unsent = true
	if c.sock != nil {
		c.touch()
	}
}

// drain moves everything that can move: outbox to engine, engine to batch and
// inbox, events, the next deadline.
func (c *Conn) drain() {
	if c.gone {
		return
	}
	c.pull()
	c.transmit()
	c.deliver()
	for !c.gone {
		ev, ok := c.eng.PollEvent()
		if !ok {
			break
		}
		c.handle(ev)
	}
	if !c.gone {
		if n := int64(c.eng.Unacked()); n != c.unacked.Load() {
			c.unacked.Store(n) // which waits for all that was written before
		}
		c.loop.due.set(&c.due, c.deadline())
	}
}

// pull moves messages from the outbox to the engine.
func (c *Conn) pull() {
	if c.held.buf != nil && !c.send(c.held) {
		return
	}
	c.held = parcel{}
	for c.unsent {
		var ps []parcel
		ps, c.unsent = c.out.take(c.loop.parcels[:0], sendBatch)
		for i, p := range ps {
			if !c.send(p) {
				c.putBack(ps[i:])
				return
			}
		}
	}
	if c.closing && c.closeBy != mono.Never {
		c.closeBy = mono.Never
		c.eng.Close(c.loop.now)
	}
}

func (c *Conn) send(p parcel) bool { return c.eng.Send(c.loop.now, p.buf, p.origin) }

// putBack keeps what the engine had no room for.
func (c *Conn) putBack(ps []parcel) {
	c.held, c.unsent = ps[0], true
	c.out.untake(ps[1:])
}

// transmit lets the engine fill the batch, unless the socket is stuck.
func (c *Conn) transmit() {
	s := c.sock
	// The last word of a connection that has ended is kept with the rest.
	if !s.out.blocked() || c.eng.Dead() {
		if c.eng.PollTransmit(c.loop.now, &s.out.batch) {
			c.touch()
		}
		return
	}
	if !c.stalled {
		c.stalled = true
		s.out.stalled = append(s.out.stalled, c)
	}
}

// deliver moves messages whose play time has come to the inbox, as many as it
// has room for.
func (c *Conn) deliver() {
	for {
		room := min(c.in.room(), deliverBatch)
		if room == 0 {
			if c.in.starve() {
				return
			}
			continue
		}
		msgs := c.eng.PollMessages(c.loop.now, c.loop.messages[:0:room])
		if len(msgs) == 0 {
			return
		}
		c.hand(msgs)
		clear(msgs)
		if len(msgs) < room {
			return
		}
	}
}

// hand puts msgs into the inbox and notes whom to wake at the end of the turn.
func (c *Conn) hand(msgs []engine.Message) {
	waiting, taken := c.in.put(msgs)
	if !taken {
		for i := range msgs {
			c.loop.cache.Put(msgs[i].Buf)
		}
		return
	}
	if waiting {
		c.loop.wakes = append(c.loop.wakes, c)
	}
	c.mark()
}

// mark tells the ready set, if there is one.
func (c *Conn) mark() {
	if m := c.member.Load(); m != nil && m.mark() {
		c.loop.marked = append(c.loop.marked, m.set)
	}
}

func (c *Conn) handle(ev engine.Event) {
	switch ev.Kind {
	case engine.EventConnected:
		c.open()
	case engine.EventPeerShutdown:
		c.out.finish(engine.ErrPeerShutdown)
		c.dropUnsent()
	case engine.EventClosed:
		c.end(ev.Err)
	}
}

// deadline is the engine's, or an own earlier one.
func (c *Conn) deadline() mono.Time {
	at := c.eng.PollTimeout()
	if c.held.buf != nil {
		at = mono.Min(at, c.loop.now.Add(retrySend))
	}
	if c.closing {
		at = mono.Min(at, c.closeBy)
	}
	return at
}

// end is the last thing that happens to a connection. err is nil if this side
// closed.
func (c *Conn) end(err error) {
	if c.gone {
		return
	}
	c.gone = true
	if c.hold > 0 {
		c.loop.pace.leave(int(c.hold))
	}
	if err == nil {
		err = ErrClosed
	}
	c.finish(err)
	c.last = c.eng.Stats(c.loop.now)
	c.loop.due.remove(&c.due)
	delete(c.sock.conns, c)
	if c.family != nil {
		c.family.leave()
	}
	close(c.done)
	c.tell()
}

// finish ends both queues and drops what was not sent. The outbox goes first: who
// has read the end writes in vain.
func (c *Conn) finish(err error) {
	c.cause = err
	c.out.finish(err)
	c.in.finish(err)
	c.dropUnsent()
	c.unacked.Store(0)
	c.loop.wakes = append(c.loop.wakes, c)
	c.mark()
}

// dropUnsent empties the outbox once nobody will take what is in it.
func (c *Conn) dropUnsent() {
	c.out.drop(c.loop.cache.Put)
	if c.held.buf != nil {
		c.loop.cache.Put(c.held.buf)
		c.held = parcel{}
	}
}

// fail ends a connection that never had an engine behind it.
func (c *Conn) fail(err error) {
	c.gone = true
	c.cause = err
	c.out.finish(err)
	c.in.finish(err)
	close(c.done)
	c.tell()
}
