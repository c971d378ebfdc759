package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/wire"
)

// idler is a Pair that counts the steps in which nothing came of a deadline.
type idler struct {
	*Pair
	idle int
	seen [6]uint64
}

// look compares everything that moves with the last look.
func (p *idler) look() (moved bool) {
	n := [6]uint64{p.Up.Counts.Packets, p.Down.Counts.Packets, p.Up.order, p.Down.order}
	for _, h := range []*Host{p.Caller, p.Listener} {
		for _, s := range h.Sessions {
			n[4] += uint64(len(s.Received) + len(s.Sent))
			if s.ended {
				n[5]++
			}
		}
	}
	n[2] -= uint64(len(p.Up.queue)) // arrived
	n[3] -= uint64(len(p.Down.queue))
	moved = n != p.seen
	p.seen = n
	return moved
}

// run steps for d.
func (p *idler) run(d time.Duration) {
	p.Drain()
	p.look()
	for end := p.Now.Add(d); p.next() <= end; {
		p.Step()
		if !p.look() {
			p.idle++
		}
	}
}

// Whatever comes in the peer's name, a deadline is followed by something, or by
// a later deadline: wake-ups for nothing stay few.
func TestDeadlinesMakeProgress(t *testing.T) {
	for _, n := range seeds(1, 60) {
		r := rand.New(rand.NewPCG(n, 77))
		s := newStage(r)
		p := &idler{Pair: NewPair(t, n)}
		p.MaxTime = time.Hour
		p.Up.Config, p.Down.Config = s.up, s.down
		p.Connect(s.caller, s.listener)
		p.A.Stream(0, s.every, s.n, s.size)
		if s.downward {
			p.B.Stream(0, s.every, s.n, s.size)
		}
		const span = 6 * time.Second
		for range 60 {
			p.After(time.Duration(r.Int64N(int64(span))), func() { disturb(r, p.Pair) })
		}
		p.run(span)
		if p.idle > 100*int(span.Seconds()) {
			t.Errorf("seed %d: %d wake-ups for nothing in %v", n, p.idle, span)
		}
		p.A.Abort()
		p.B.Abort()
		p.WantEnd(time.Second)
	}
}

// disturb does something random to one end.
func disturb(r *rand.Rand, p *Pair) {
	s, from := p.A, p.Listener
	if r.IntN(2) == 0 {
		s, from = p.B, p.Caller
	}
	switch r.IntN(8) {
	case 0:
		s.Paused = !s.Paused
	case 1:
		d := r.IntN(2) == 0
		p.Up.Config.Drop = func(pkt *Packet) bool { return d && pkt.IsData() }
	case 2:
		s.Stream(0, time.Millisecond, 20, 1+r.IntN(1000))
	case 3:
		if r.IntN(10) == 0 {
			s.Close()
		}
	default:
		p.forge(r, from, s)
	}
}

// forge sends a session a control packet in its peer's name, well formed and
// with numbers near the truth.
func (p *Pair) forge(r *rand.Rand, from *Host, to *Session) {
	near := func() uint32 { return uint32(to.initSeq.Add(len(to.Sent) + r.IntN(400) - 300)) }
	h := wire.ControlHeader{Timestamp: wire.Timestamp(r.Uint32()), Dest: to.Conn.SocketID(), Info: uint32(r.IntN(300))}
	var content []byte
	switch r.IntN(6) {
	case 0:
		h.Type = wire.CtrlACK
		content = words(near(), uint32(r.IntN(3_000_000)), uint32(r.IntN(1_000_000)), uint32(r.IntN(100)), 1, 1, 1)
	case 1:
		h.Type = wire.CtrlNAK
		content = words(near()|1<<31, near(), near(), near())
	case 2:
		h.Type = wire.CtrlACKACK
		content = words(0)
	case 3:
		h.Type = wire.CtrlDropReq
		content = words(uint32(to.initSeq.Add(len(to.Received)+r.IntN(60)-20)), uint32(to.initSeq.Add(len(to.Received)+r.IntN(200))))
	case 4:
		h.Type = wire.CtrlKeepAlive
		content = words(0)
	default:
		h.Type, h.Subtype = wire.CtrlUserDefined, uint16(wire.ExtKMRsp)
		content = wire.AppendKMState(nil, wire.KMBadSecret)
	}
	b := make([]byte, wire.HeaderSize)
	h.Put(b)
	p.Link(from.Addr, to.Host.Addr).send(p.Now, append(b, content...))
}
