package sim

import (
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
)

// The usual addresses.
const (
	CallerAddr   = "10.0.0.1:5001"
	ListenerAddr = "10.0.0.2:6002"
)

// ListenerAddrPort is the same, parsed.
var ListenerAddrPort = netip.MustParseAddrPort(ListenerAddr)

// Pair is one calling and one listening Host and the links between them.
type Pair struct {
	*World
	Caller, Listener *Host
	Up, Down         *Link // caller to listener and back

	// A and B are the two ends of the connection once it stands; Connect and
	// ConnectFor set them.
	A, B *Session
}

// NewPair returns a Pair; nothing has happened yet.
func NewPair(tb testing.TB, seed uint64) *Pair {
	w := NewWorld(tb, seed)
	p := &Pair{World: w, Caller: w.NewHost(CallerAddr), Listener: w.NewHost(ListenerAddr)}
	p.Up = w.Link(p.Caller.Addr, p.Listener.Addr)
	p.Down = w.Link(p.Listener.Addr, p.Caller.Addr)
	return p
}

// Delay sets the one-way delay of both directions.
func (p *Pair) Delay(d time.Duration) *Pair {
	p.Up.Config.Delay, p.Down.Config.Delay = d, d
	return p
}

// Connect makes the connection and fails the test if it does not come about.
func (p *Pair) Connect(caller, listener engine.Config) {
	p.TB.Helper()
	if !p.TryConnect(caller, listener) {
		p.TB.Fatalf("no connection: caller error %v, accept errors %v (seed %d)", p.A.Err, p.Listener.AcceptErrs, p.Seed)
	}
}

// TryConnect dials and waits for the result; it reports success.
func (p *Pair) TryConnect(caller, listener engine.Config) bool {
	p.TB.Helper()
	if !p.Listener.EP.Listening() {
		p.Listener.Listen(listener)
	}
	n := len(p.Listener.Accepted)
	p.A = p.Caller.Dial(caller, p.Listener.Addr)
	p.RunUntil(caller.ConnTimeout+time.Second, func() bool { return p.A.Connected || p.A.Ended() })
	if len(p.Listener.Accepted) > n {
		p.B = p.Listener.Accepted[len(p.Listener.Accepted)-1]
	}
	return p.A.Connected && p.B != nil
}

// Finish closes the sending ends, waits for everything to end and checks that
// every buffer came back.
func (p *Pair) Finish(limit time.Duration) {
	p.TB.Helper()
	for _, s := range append(append([]*Session(nil), p.Caller.Sessions...), p.Listener.Sessions...) {
		s.Close()
	}
	p.WantEnd(limit)
}

// WantEnd waits for all connections to end and checks that every buffer came
// back.
func (p *Pair) WantEnd(limit time.Duration) {
	p.TB.Helper()
	over := func() bool { return allEnded(p.Caller) && allEnded(p.Listener) }
	if !p.RunUntil(limit, over) {
		p.TB.Errorf("still connected %v after closing (seed %d)", limit, p.Seed)
		return
	}
	p.Listener.EP.StopListening()
	p.RunFor(10 * time.Second) // what an Endpoint keeps of the dead expires
	p.WantBuffersBack()
}

// WantBuffersBack fails the test if a datagram buffer is missing.
func (p *Pair) WantBuffersBack() {
	p.TB.Helper()
	p.wantBufsBack(p.TB)
}

func allEnded(h *Host) bool {
	for _, s := range h.Sessions {
		if !s.ended {
			return false
		}
	}
	return true
}
