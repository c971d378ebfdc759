package engine

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// inject hands end i a datagram in the name of its peer.
func (p *wirePair) inject(i int, data []byte) {
	b := p.cache.Get()
	b.Reset(copy(b.Mem(), data))
	p.ends[i].HandleDatagram(p.now, dgram.In{Buf: b, From: p.addrs[1-i]})
}

// injectData forges a data packet of the caller.
func (p *wirePair) injectData(s seq.Number, kk wire.KK) {
	b := make([]byte, wire.HeaderSize+100)
	wire.DataHeader{
		Seq: s, PP: wire.PPSolo, KK: kk, MsgNo: 1,
		Timestamp: p.conns[0].timestamp(p.now), Dest: p.conns[1].id,
	}.Put(b)
	p.inject(1, b)
}

// injectControl forges a control packet to end i.
func (p *wirePair) injectControl(i int, h wire.ControlHeader, content []byte) {
	h.Dest = p.conns[i].id
	b := make([]byte, wire.HeaderSize, wire.HeaderSize+len(content))
	h.Put(b)
	p.inject(i, append(b, content...))
}

// run lets d pass.
func (p *wirePair) run(d time.Duration) {
	for end := p.now.Add(d); p.now < end; {
		p.turn()
	}
}

// Stray packets far ahead, even many, do not make the receiver leave out what
// comes in order.
func TestStrayPacketsDoNotMoveTheBuffer(t *testing.T) {
	p := newWirePair(t, DefaultConfig())
	for i := range 200 {
		p.send(1)
		p.turn()
		p.injectData(p.conns[0].snd.buf.next().Add(20000+1000*i), wire.KKClear)
	}
	p.run(time.Second)
	if p.received != 200 {
		t.Errorf("%d messages of 200", p.received)
	}
}

// A drop request to a side that closes leaves nothing behind that would be due
// and never be delivered.
func TestDropReqWhileClosing(t *testing.T) {
	p := newWirePair(t, DefaultConfig())
	c := p.conns[1]
	b := p.cache.Get()
	b.Reset(dgram.HeaderSize + 100)
	c.Send(p.now, b, p.now)
	c.Close(p.now)
	content := make([]byte, 8)
	wire.SeqRange{First: c.rcv.buf.end(), Last: c.rcv.buf.end().Add(10)}.PutDropReq(content)
	p.injectControl(1, wire.ControlHeader{Type: wire.CtrlDropReq}, content)
	p.drain(1)
	if c.Dead() || c.PollTimeout() <= p.now {
		t.Errorf("dead %v, next deadline %v after now", c.Dead(), c.PollTimeout().Sub(p.now))
	}
}

// A peer that reports everything lost all the time makes work for every packet
// once a report period, not with every report.
func TestNAKStormIsBounded(t *testing.T) {
	p := newWirePair(t, DefaultConfig())
	c := p.conns[0]
	c.rtt.sampled, c.rtt.smoothed, c.rtt.variance = true, 10*time.Second, 0
	p.send(100)
	p.batch.Reset()
	c.PollTransmit(p.now, &p.batch)
	content := wire.AppendNAKRange(nil, wire.SeqRange{First: c.snd.buf.first, Last: c.snd.buf.nextNew().Prev()})
	work := 0
	for range 1000 {
		c.PollTimeout()
		p.now = p.now.Add(100 * time.Microsecond)
		p.injectControl(0, wire.ControlHeader{Type: wire.CtrlNAK}, content)
		work += c.snd.loss.count
		p.batch.Reset()
		c.PollTransmit(p.now, &p.batch)
	}
	if n := c.stats.retrans.Packets; n != 100 {
		t.Errorf("%d retransmissions of 100", n)
	}
	if most := 2 * 100 * 11; work > most {
		t.Errorf("%d numbers listed in 100 ms, want at most %d", work, most)
	}
}
