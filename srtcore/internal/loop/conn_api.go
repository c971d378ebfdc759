package loop

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

// Established is closed once the connection is established; Done when it has
// ended, which may be without having been established.
func (c *Conn) Established() <-chan struct{} { return c.established }

// Done is closed when the connection has ended and Cause says why.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Cause is why the connection ended. It may be called after Done.
func (c *Conn) Cause() error { return c.cause }

// Info may be called after Established.
func (c *Conn) Info() *Info { return &c.info }

// Read copies the oldest message into b: ErrAgain if there is none yet,
// io.ErrShortBuffer (and the message stays) if b is too small, else the end.
func (c *Conn) Read(b []byte) (int, Received, error) {
	n, r, hungry, err := c.in.read(b)
	if hungry {
		c.loop.mail.announce(c, mono.Never)
	}
	return n, r, err
}

// ReadBatch fills b[i], each to its capacity, with up to len(b) messages.
func (c *Conn) ReadBatch(b [][]byte) (int, error) {
	n, hungry, err := c.in.readBatch(b)
	if hungry {
		c.loop.mail.announce(c, mono.Never)
	}
	return n, err
}

// Lend moves up to len(b) messages out, whose Bufs the caller gives back with
// TakeBack.
func (c *Conn) Lend(b []engine.Message) (int, error) {
	n, hungry, err := c.in.lend(b)
	if hungry {
		c.loop.mail.announce(c, mono.Never)
	}
	return n, err
}

// TakeBack ends a loan. It may follow the end of the connection.
func (c *Conn) TakeBack(bufs []*dgram.Buf) { c.loop.pool.PutN(bufs) }

// ArmRead prepares to wait for the channel; false: Read would not say ErrAgain.
// DisarmRead follows a wait.
func (c *Conn) ArmRead() (<-chan struct{}, bool) { return c.in.sig.ch, c.in.arm() }

// DisarmRead ends what ArmRead began.
func (c *Conn) DisarmRead() { c.in.disarm() }

// KickRead wakes a waiting reader for no reason of ours.
func (c *Conn) KickRead() { c.in.wake() }

// Readable reports whether Read would not say ErrAgain.
func (c *Conn) Readable() bool { return c.in.ready() }

// Write copies b, a message handed in at origin, into the outbox; ErrAgain if
// there is no room.
func (c *Conn) Write(b []byte, origin mono.Time) error {
	buf := c.loop.pool.Get()
	buf.SetPayload(b)
	ps := [1]parcel{{buf, origin}}
	n, announce, err := c.out.put(ps[:])
	if n == 0 {
		c.loop.pool.Put(buf)
	}
	if announce {
		c.loop.mail.announce(c, Now())
	}
	return err
}

// writeLot is how many messages WriteBatch puts under one lock.
const writeLot = 32

// WriteBatch writes as many messages as there is room for; ErrAgain if none.
func (c *Conn) WriteBatch(b [][]byte, origin mono.Time) (n int, err error) {
	for n < len(b) {
		lot := b[n:min(n+writeLot, len(b))]
		took, err := c.writeLot(lot, origin)
		n += took
		if took < len(lot) {
			if n > 0 && err == ErrAgain {
				err = nil
			}
			return n, err
		}
	}
	return n, nil
}

func (c *Conn) writeLot(b [][]byte, origin mono.Time) (int, error) {
	var bufs [writeLot]*dgram.Buf
	var ps [writeLot]parcel
	c.loop.pool.GetN(bufs[:len(b)])
	for i, m := range b {
		bufs[i].SetPayload(m)
		ps[i] = parcel{bufs[i], origin}
	}
	n, announce, err := c.out.put(ps[:len(b)])
	c.loop.pool.PutN(bufs[n:len(b)])
	if announce {
		c.loop.mail.announce(c, Now())
	}
	return n, err
}

// ArmWrite prepares to wait for the channel; false: Write would not say
// ErrAgain. DisarmWrite follows a wait.
func (c *Conn) ArmWrite() (<-chan struct{}, bool) {
	wait := c.out.arm()
	if wait {
		c.loop.mail.nudge()
	}
	return c.out.sig.ch, wait
}

// DisarmWrite ends what ArmWrite began.
func (c *Conn) DisarmWrite() { c.out.disarm() }

// KickWrite wakes a waiting writer for no reason of ours.
func (c *Conn) KickWrite() { c.out.wake() }

// Unacked is the number of messages written and not yet acknowledged.
func (c *Conn) Unacked() int { return c.out.length() + int(c.unacked.Load()) }

// Close ends the connection gracefully: what is unread is dropped, what was
// written is delivered, within linger beyond the latency. Done says when.
func (c *Conn) Close(linger time.Duration) {
	c.stop()
	c.loop.mail.post(func() { c.beginClose(linger) })
}

// Abort ends the connection at once.
func (c *Conn) Abort() {
	c.stop()
	c.loop.mail.post(c.abort)
}

// stop ends the application's side of both queues.
func (c *Conn) stop() {
	c.in.close(ErrClosed)
	c.out.finish(ErrClosed)
	c.member.Load().closed()
}

func (c *Conn) beginClose(linger time.Duration) {
	if c.gone || c.closing || c.eng == nil {
		return
	}
	c.closing, c.unsent = true, true
	c.closeBy = c.loop.now.Add(c.eng.PeerLatency() + linger + time.Second)
	c.touch()
}

func (c *Conn) abort() {
	if c.gone || c.eng == nil {
		return
	}
	c.eng.Abort(c.loop.now)
	c.touch()
}

// Stats asks the loop for a consistent snapshot; of a connection that has ended
// it is the last one.
func (c *Conn) Stats() engine.Stats {
	reply := make(chan engine.Stats, 1)
	if c.loop.mail.post(func() { reply <- c.snapshot() }) {
		return <-reply
	}
	<-c.loop.done
	return c.last
}

// Recording is the content of a connection's flight recorder.
type Recording struct {
	Records            []engine.Record
	Lost               uint64    // given up before the first of them
	Taken              mono.Time // when it was read
	SocketID, PeerID   wire.SocketID
	Caller, TLPktDrop  bool
	RTT, RTTVar, Drift time.Duration
	PeerRate           uint32 // bytes/s

	raw engine.Recorded
}

// Recording asks the loop for a copy of the flight recorder, of about n records.
// It may follow the end of the connection.
func (c *Conn) Recording(n int) Recording {
	room := engine.RecordRoom(n)
	reply := make(chan Recording, 1)
	if c.loop.mail.post(func() { reply <- c.recording(c.loop.now, room) }) {
		return (<-reply).unfold()
	}
	<-c.loop.done
	return c.recording(Now(), room).unfold()
}

func (r Recording) unfold() Recording {
	r.Records, r.Lost = r.raw.Records(), r.raw.Lost
	return r
}

func (c *Conn) recording(now mono.Time, room []engine.Record) Recording {
	if c.eng == nil {
		return Recording{Taken: now}
	}
	r := Recording{
		Taken: now, SocketID: c.eng.SocketID(), PeerID: c.eng.PeerSocketID(), Caller: c.family == nil,
		TLPktDrop: c.eng.DropsTooLate(),
	}
	r.raw = c.eng.Recorded(now, room)
	s := c.eng.Stats(now)
	r.RTT, r.RTTVar, r.Drift, r.PeerRate = s.RTT, s.RTTVar, s.Drift, s.PeerRate
	return r
}

func (c *Conn) snapshot() engine.Stats {
	if c.gone {
		return c.last
	}
	return c.eng.Stats(c.loop.now)
}
