package sim

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/wire"
	"github.com/weirline/weirline/tests/golden"
)

// The fuzz bytes are a list of records: one byte of flags, two of length, the
// datagram. The flags say where it goes and as whose.
const (
	toCaller   = 1 << iota // else to the listening end
	asPeer                 // from the true peer's address, else a stranger's
	patchDest              // to the victim connection's socket id
	patchOther             // to the other connection's socket id, always as a stranger
	newNumbers             // a sequence number near the victim's is put in
	waitAfter              // 10 ms pass behind it
)

// brawl is a listening Host with two callers; one connection is shot at.
type brawl struct {
	w             *World
	listener      *Host
	callers       [2]*Host
	a, b          [2]*Session
	shots, answer int
	spoofed       bool // something came in the true peer's name
}

const stranger = "10.9.9.9:999"

func newBrawl(t testing.TB) *brawl {
	f := &brawl{w: NewWorld(t, 1)}
	f.w.MaxSteps = 200_000
	f.listener = f.w.NewHost(ListenerAddr)
	cfg := secretConfig(40*time.Millisecond, 16)
	cfg.KMRefresh, cfg.KMPreAnn = 30, 10
	f.listener.Listen(cfg)
	for i, addr := range []string{"10.0.0.1:5001", "10.0.0.3:5003"} {
		f.callers[i] = f.w.NewHost(addr)
		for _, l := range []*Link{f.w.Link(f.callers[i].Addr, f.listener.Addr), f.w.Link(f.listener.Addr, f.callers[i].Addr)} {
			l.Config.Delay = 2 * time.Millisecond
		}
		f.a[i] = f.callers[i].Dial(cfg, f.listener.Addr)
		f.w.RunUntil(time.Second, func() bool { return f.a[i].Connected })
		f.b[i] = f.listener.Accepted[i]
	}
	return f
}

// play streams over both connections while the records come in.
func (f *brawl) play(records []byte) {
	for i := range f.a {
		f.a[i].Stream(0, 5*time.Millisecond, 60, 200)
		f.b[i].Stream(0, 5*time.Millisecond, 60, 200)
	}
	f.w.RunFor(50 * time.Millisecond)
	answers := f.w.Link(f.listener.Addr, mustAddr(stranger))
	for len(records) >= 3 && f.shots < 200 {
		flags, n := records[0], int(binary.BigEndian.Uint16(records[1:]))
		n = min(n, len(records)-3, 1472)
		f.shoot(flags, append([]byte(nil), records[3:3+n]...))
		records = records[3+n:]
	}
	f.w.RunFor(500 * time.Millisecond)
	f.answer = int(answers.Counts.Packets)
}

func (f *brawl) shoot(flags byte, data []byte) {
	f.shots++
	to, from := f.listener, f.callers[0].Addr
	victim, other := f.b[0], f.b[1]
	if flags&toCaller != 0 {
		to, from, victim, other = f.callers[0], f.listener.Addr, f.a[0], f.a[0]
	}
	if flags&asPeer == 0 || flags&patchOther != 0 {
		from = mustAddr(stranger)
	} else {
		f.spoofed = true
	}
	if len(data) >= wire.HeaderSize {
		switch {
		case flags&patchOther != 0:
			wire.SetDest(data, other.Conn.SocketID())
		case flags&patchDest != 0:
			wire.SetDest(data, victim.Conn.SocketID())
		}
		if flags&newNumbers != 0 {
			f.renumber(data, victim)
		}
	}
	to.deliver(f.w.Now, from, to.Addr, data)
	f.w.Drain()
	if flags&waitAfter != 0 {
		f.w.RunFor(10 * time.Millisecond)
	}
}

// renumber puts the first sequence number of a packet near what the victim
// expects, so that it is not thrown away at the door.
func (f *brawl) renumber(data []byte, victim *Session) {
	at := 0
	if wire.IsControl(data) {
		at = wire.HeaderSize
	}
	if len(data) < at+4 {
		return
	}
	off := int(int8(data[at+3]))
	keep := binary.BigEndian.Uint32(data[at:]) & (1 << 31)
	near := victim.initSeq.Add(len(victim.Received) + off)
	binary.BigEndian.PutUint32(data[at:], keep|uint32(near))
	wire.SetStamp(data, f.w.lastStamp(victim))
}

// lastStamp is a time stamp as the session's peer would write it now.
func (w *World) lastStamp(s *Session) wire.Timestamp {
	return s.base.stamp + wire.Timestamp(w.Now.Sub(s.base.at).Microseconds())
}

// check holds what no datagram may change.
func (f *brawl) check(t *testing.T) {
	// The other connection never heard of it.
	Flow{f.a[1], f.b[1]}.WantComplete()
	Flow{f.b[1], f.a[1]}.WantComplete()
	if !f.spoofed { // neither did this one: only strangers shot at it
		Flow{f.a[0], f.b[0]}.WantComplete()
		Flow{f.b[0], f.a[0]}.WantComplete()
	}
	for _, s := range []*Session{f.a[0], f.b[0]} {
		st := s.Stats()
		if st.RcvBufPkts > s.Config.RcvBufPkts || st.SndBufPkts > s.Config.SndBufPkts {
			t.Errorf("%d and %d packets held", st.RcvBufPkts, st.SndBufPkts)
		}
	}
	// No more goes to a stranger than came from one: no amplifier.
	if f.answer > f.shots {
		t.Errorf("%d answers to %d datagrams", f.answer, f.shots)
	}
	// A new caller is served.
	wantCleanCaller(t, f.w, f.listener, f.listener.ListenConfig)
	f.end(t)
}

// end closes everything and wants every buffer back.
func (f *brawl) end(t *testing.T) {
	for _, n := range f.w.nodes {
		if h, ok := n.(*Host); ok {
			for _, s := range h.Sessions {
				s.Abort()
			}
		}
	}
	f.w.RunFor(10 * time.Millisecond)
	for _, n := range f.w.nodes {
		if h, ok := n.(*Host); ok && h.EP.Conns() != 0 {
			t.Errorf("%d connections left after all were aborted", h.EP.Conns())
		}
	}
	f.w.wantBufsBack(t)
}

func record(flags byte, data []byte) []byte {
	b := []byte{flags, 0, 0}
	binary.BigEndian.PutUint16(b[1:], uint16(len(data)))
	return append(b, data...)
}

// goldenRecords makes seeds of recorded traffic: each capture's datagrams, some
// raw, some to the living connection.
func goldenRecords(f *testing.F) {
	for _, name := range []string{
		"01-live-c2l", "05-streamid-acl", "06-aes-ctr-128", "08-km-refresh-ctr", "11-reject-version",
		"12-loss-both-directions", "12-periodic-nak", "13-tlpktdrop-sender", "14-light-ack", "20-isn-wrap-dropreq", "28-pacing-maxbw",
	} {
		c, err := golden.LoadName(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, flags := range []byte{0, asPeer | patchDest, asPeer | patchDest | newNumbers, patchOther, toCaller | asPeer | patchDest | newNumbers} {
			var b []byte
			for i, p := range c.Packets {
				if i%(1+len(c.Packets)/10) == 0 || i < 4 {
					b = append(b, record(flags|waitAfter*byte(i&1), p.Data)...)
				}
			}
			f.Add(b)
		}
	}
}

// FuzzEngine shoots arbitrary datagrams at an Endpoint in mid-session. Inputs are
// long, so run it with -fuzzminimizetime=1x.
func FuzzEngine(f *testing.F) {
	goldenRecords(f)
	f.Fuzz(func(t *testing.T, records []byte) {
		b := newBrawl(t)
		b.play(records)
		b.check(t)
	})
}
