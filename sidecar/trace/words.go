package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// receivedText tells the story of a gap among received packets.
func receivedText(g *gap, t *srtcore.Trace, rtt time.Duration) string {
	switch g.Cause {
	case Undecryptable:
		return fmt.Sprintf("%s came that could not be decrypted: the key they were sent with is not known here.", many(g.Packets, "packet"))
	case LateDelivery:
		return fmt.Sprintf("%s handed over up to %s late: the application did not read, or this machine was busy.",
			many(g.Packets, "message"), ms(g.lateBy))
	case SenderDropped:
		if g.Asked == 0 && g.silence == 0 {
			return fmt.Sprintf("%s skipped: the sender has gone on without them, further than the receive buffer reaches.", many(g.Packets, "packet"))
		}
	}
	var s []string
	s = append(s, fmt.Sprintf("%s missing when the next one came, %s after the one before.", many(g.Packets, "packet"), ms(g.silence)))
	if g.Asked > 0 {
		s = append(s, fmt.Sprintf("Asked for %s, first %s.", times(g.Asked), soon(g.asked-g.at)))
	}
	if g.Reordered > 0 {
		s = append(s, fmt.Sprintf("%s came by itself, out of order, within %s.", many(g.Reordered, "packet"), ms(g.filled-g.at)))
	}
	if g.Repaired > 0 {
		s = append(s, fmt.Sprintf("%s came again within %s, %s.", many(g.Repaired, "packet"), ms(g.filled-g.at), intime(g.spare)))
	}
	if lost := receivedLoss(g, t, rtt); lost != "" {
		s = append(s, lost)
	}
	if g.peer != "" {
		s = append(s, g.peer)
	}
	return strings.Join(s, " ")
}

func intime(spare time.Duration) string {
	if spare < 0 {
		return fmt.Sprintf("and was played up to %s late", ms(-spare))
	}
	return fmt.Sprintf("the latest %s before its time", ms(spare))
}

func soon(d time.Duration) string {
	if d < time.Millisecond {
		return "at once"
	}
	return "after " + ms(d)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// receivedLoss says why packets of a gap never came in time.
func receivedLoss(g *gap, t *srtcore.Trace, rtt time.Duration) string {
	lost := many(g.Lost, "packet")
	switch g.Cause {
	case SenderDropped:
		return fmt.Sprintf("%s lost: the sender no longer had them.", lost)
	case NoRoom:
		return "They had come, but the receive buffer was full: the application did not read for too long, or rcvbuf or fc is too small."
	case Open:
		return fmt.Sprintf("%s may still come.", many(g.missing(), "packet"))
	case Outage:
		if g.Lost == 0 {
			return fmt.Sprintf("Nothing is lost, but the silence was longer than the latency of %s.", ms(t.RcvLatency))
		}
		return fmt.Sprintf("%s lost: the silence was longer than the latency of %s, and what could be sent again in the %s left was not enough.",
			lost, ms(t.RcvLatency), ms(max(g.left, 0)))
	case NoAnswer, RequestLost, RepairLost, NotSentAgain:
		why := ""
		if g.peer == "" {
			why = ": the requests or the retransmissions were lost too, or the sender did not send them; the sender's trace tells which"
		}
		return fmt.Sprintf("%s lost: %s after the first request, a round trip being %s, nothing had come%s.", lost, ms(g.gaveUp-g.asked), ms(rtt), why)
	case LatencyTooSmall:
		return tooSmallText(g, t, rtt, lost)
	case LateRepair:
		return fmt.Sprintf("%s lost: %d came again, but up to %s too late, though there were %s from the first request on and a round trip takes %s: "+
			"an earlier retransmission was lost, or the sender sent it late.", lost, g.TooLate, ms(g.lateBy), ms(g.gaveUp-g.asked), ms(rtt))
	}
	return ""
}

func tooSmallText(g *gap, t *srtcore.Trace, rtt time.Duration, lost string) string {
	switch {
	case g.TooLate > 0:
		return fmt.Sprintf("%s lost: %d came again, but up to %s too late. The latency of %s is too small for a round trip of %s.",
			lost, g.TooLate, ms(g.lateBy), ms(t.RcvLatency), ms(rtt))
	case g.Asked == 0:
		return fmt.Sprintf("%s lost: not asked for, since after %s their time was over. The latency of %s is too small.",
			lost, ms(max(g.gaveUp-g.at, 0)), ms(t.RcvLatency))
	}
	return fmt.Sprintf("%s lost: the time was over %s after the first request, and a round trip takes %s. The latency of %s is too small.",
		lost, ms(g.gaveUp-g.asked), ms(rtt), ms(t.RcvLatency))
}

// askedText tells what became of packets that the peer has asked for.
func askedText(g *gap) string {
	s := fmt.Sprintf("The peer asked for %s, %s.", many(g.Packets, "packet"), times(g.Asked))
	if g.Lost > 0 {
		return s + resentText(g) + fmt.Sprintf(" The peer acknowledged them %s after its first request, when their time was over: it has given them up.", ms(g.acked-g.at))
	}
	return s + resentText(g)
}

// resentText tells what this side did about it.
func resentText(g *gap) string {
	switch g.Cause {
	case SenderDropped:
		return " They had been dropped here as too late, or were before they could be sent again."
	case Resent:
		return fmt.Sprintf(" Sent again, %s, the first after %s.", times(g.Resent), ms(g.resentAt-g.at))
	case NoBudget:
		return " Not sent again: the bandwidth allowed for retransmissions (oheadbw) was used up."
	}
	return " Not sent again: it was on its way already, or had been acknowledged."
}

// dropText says why the sender has dropped packets.
func dropText(d *drop) string {
	s := fmt.Sprintf("The sender dropped %s, %d of them never sent, the oldest %s old.", many(d.Packets, "packet"), d.unsent, ms(d.age))
	switch {
	case d.silence >= d.age/2:
		return s + fmt.Sprintf(" Nothing had been acknowledged for %s: the link, or the way back, was down.", ms(d.silence))
	case d.window:
		return s + " The peer's receive buffer was full: its application does not read, or the buffer is too small for the latency."
	case d.unsent > 0:
		return s + " More was handed in than maxbw lets out."
	}
	return s + " Retransmissions did not get through in time."
}

// advise turns causes into what can be done about them.
func advise(t *srtcore.Trace, r *Report) (out []string) {
	if n := needed(t, r); n > 0 {
		out = append(out, fmt.Sprintf("Raise the latency from %.0f ms to at least %d ms.", inMs(t.RcvLatency), n.Milliseconds()))
	}
	in, back := r.Received.ByCause, r.Sent.ByCause
	for _, a := range []struct {
		is   bool
		text string
	}{
		{in[Outage] > 0, fmt.Sprintf("The link was silent for up to %.0f ms: a latency beyond that, and a round trip more, would bridge it.", r.Received.LongestMs)},
		{in[NoAnswer] > 0, "Retransmissions are lost as well: look at the way back (requests) and at the sender's oheadbw; more latency leaves time to ask again."},
		{in[RequestLost] > 0, "Requests are lost on the way back from here to the sender: mend that direction; more latency leaves time to ask again."},
		{in[RepairLost] > 0, "Retransmissions are lost as well: more latency leaves time for more of them."},
		{in[NotSentAgain] > 0, "The sender does not answer requests: raise its oheadbw."},
		{in[LateRepair] > 0, "Retransmissions come late: if it is not because the first ones were lost, the sender's oheadbw holds them back."},
		{in[NoRoom] > 0, "Read faster, or raise rcvbuf and fc: they must hold the latency's worth of packets."},
		{in[Undecryptable] > 0, "Compare the passphrases of both ends; after a change of key the peer may have missed the new one."},
		{in[LateDelivery] > 0, "Give this process more CPU time, or read without pauses."},
		{in[SenderDropped] > 0, "The sender drops what is older than its limit: see the trace of the sending end for the reason."},
		{back[NoBudget] > 0, "Raise oheadbw: it limits what retransmissions may add to the stream."},
		{back[SenderDropped] > 0, "The sender could not deliver in time: see its gaps for whether the link, the peer's reader or maxbw held it up."},
	} {
		if a.is {
			out = append(out, a.text)
		}
	}
	return out
}

// needed is the latency that would have saved what came too late, or would have.
func needed(t *srtcore.Trace, r *Report) time.Duration {
	if r.Received.ByCause[LatencyTooSmall]+r.Received.ByCause[LateRepair] == 0 {
		return 0
	}
	worst := 0.
	for _, g := range r.Gaps {
		worst = max(worst, g.LateMs)
	}
	more := t.RcvLatency + time.Duration(worst*float64(time.Millisecond))
	return Latency(Link{RTT: fromMs(r.RTT.P95), Jitter: fromMs(r.RTT.P95 - r.RTT.Min), Loss: r.Received.Loss(), Least: more})
}

func fromMs(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
