package trace

import (
	"fmt"

	"github.com/weirline/weirline/srtcore"
)

// Causes that only the traces of both ends tell apart: NoAnswer is what the
// receiver alone can say.
const (
	// RequestLost: the sender never got a request.
	RequestLost Cause = "request-lost"
	// RepairLost: the sender sent them again, and that was lost as well.
	RepairLost Cause = "retransmission-lost"
	// NotSentAgain: the sender got a request and did not send them again.
	NotSentAgain Cause = "not-sent-again"
)

// ExplainBoth is Explain with the help of the trace that the other end has kept
// of the same connection.
func ExplainBoth(t, peer srtcore.Trace) (Report, error) {
	if t.SocketID != peer.PeerSocketID || t.PeerSocketID != peer.SocketID {
		return Report{}, fmt.Errorf("these are not the traces of both ends of one connection: the first is of socket %d with peer %d, the second of socket %d with peer %d; "+
			"save both while the same connection stands", t.SocketID, t.PeerSocketID, peer.SocketID, peer.PeerSocketID)
	}
	other := newSent(&peer)
	for _, r := range peer.Records {
		other.take(r)
	}
	return explain(t, other), nil
}

// mostLooked bounds the packets of one gap that are looked for.
const mostLooked = 1 << 14

// known is what the sender knows of a gap that its receiver has found.
type known struct {
	asked, resent     int // times, packets
	noBudget, dropped bool
}

func (v *sent) knows(g *gap) (k known) {
	r := srtcore.TraceRecord{Seq: g.First, Count: g.Packets}
	v.asked.overlaps(r, func(a *gap, _ int) {
		k.asked = max(k.asked, a.Asked)
		k.noBudget = k.noBudget || a.noBudget
	})
	for n := range min(g.Packets, mostLooked) {
		k.resent += v.times[g.First.Add(n)]
	}
	for _, d := range v.drops {
		k.dropped = k.dropped || d.First.LessEq(g.Last) && g.First.LessEq(d.Last)
	}
	return k
}

// settle turns the cause that the receiver sees into that which both ends show,
// and adds what the sender knows.
func (v *sent) settle(g *gap) {
	if g.Cause != NoAnswer && g.Cause != LateRepair {
		return
	}
	k := v.knows(g)
	switch {
	case g.Cause == LateRepair:
	case k.asked == 0:
		g.Cause = RequestLost
	case k.resent > 0:
		g.Cause = RepairLost
	default:
		g.Cause = NotSentAgain
	}
	g.peer = k.text()
}

func (k known) text() string {
	switch {
	case k.asked == 0:
		return "The sender got none of the requests: they were lost on the way back."
	case k.resent > 0 && k.noBudget:
		return fmt.Sprintf("The sender got %d of the requests and sent %s again, but had to wait: its bandwidth for that (oheadbw) was used up.",
			k.asked, many(k.resent, "packet"))
	case k.resent > 0:
		return fmt.Sprintf("The sender got %d of the requests and sent %s again: lost on the way.", k.asked, many(k.resent, "packet"))
	case k.noBudget:
		return "The sender got a request and sent nothing again: its bandwidth for that (oheadbw) was used up."
	case k.dropped:
		return "The sender got a request when it had dropped them already."
	}
	return "The sender got a request and sent nothing again."
}
