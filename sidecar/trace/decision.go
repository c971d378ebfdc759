package trace

import (
	"fmt"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// numbers names packets by their sequence numbers.
func numbers(r srtcore.TraceRecord) string {
	if r.Count <= 1 {
		return fmt.Sprintf("%d", r.Seq)
	}
	return fmt.Sprintf("%d to %d", r.Seq, r.End().Prev())
}

// ms writes a duration for people.
func ms(d time.Duration) string {
	if d >= 10*time.Second || d <= -10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// decision says in a few words what a record is about.
func decision(r srtcore.TraceRecord) string {
	switch r.Kind {
	case srtcore.TraceConnected:
		return fmt.Sprintf("connected, initial number %d", r.Seq)
	case srtcore.TracePeerGone:
		if r.Number == 1 {
			return "the peer is silent: given up"
		}
		return "the peer has closed"
	case srtcore.TraceReceived, srtcore.TraceSent:
		if r.Count == 1 {
			return ""
		}
		return fmt.Sprintf("the last of %d in order, %s", r.Count, numbers(r))
	case srtcore.TraceGap:
		return fmt.Sprintf("missing: %s, when the packet behind came %s after the one before; %s until that is played",
			numbers(r), ms(r.Since), ms(r.Left))
	case srtcore.TraceFilled:
		return fmt.Sprintf("fills a gap, %s before its time", ms(r.Left))
	case srtcore.TraceBelated:
		return belated(r)
	case srtcore.TraceResent:
		return fmt.Sprintf("sent again after %s", ms(r.Since))
	}
	return lesser(r)
}

func belated(r srtcore.TraceRecord) string {
	if r.Double || r.Left >= 0 {
		return "a copy of what is here already"
	}
	return fmt.Sprintf("%s after its time", ms(-r.Left))
}

// lesser is decision for what is not about packets of data that came or went.
func lesser(r srtcore.TraceRecord) string {
	switch r.Kind {
	case srtcore.TraceGivenUp:
		return "given up as too late: " + numbers(r)
	case srtcore.TraceNoRoom:
		return "no room in the receive buffer for " + numbers(r)
	case srtcore.TraceResync:
		return fmt.Sprintf("the sender has gone on without %s", numbers(r))
	case srtcore.TraceUndecryptable:
		return "not decryptable: " + numbers(r)
	case srtcore.TraceLate:
		return fmt.Sprintf("%s handed over up to %s late", many(r.Count, "message"), ms(-r.Left))
	case srtcore.TraceSenderDrop:
		return fmt.Sprintf("dropped by the sender, the oldest %s old: %s", ms(r.Since), numbers(r))
	case srtcore.TraceBufferFull:
		return "send buffer full"
	case srtcore.TraceWindowFull:
		return "the peer's receive buffer is full: new packets wait"
	case srtcore.TraceNoBudget:
		return "retransmissions wait: their bandwidth (oheadbw) is used up"
	case srtcore.TraceProbe:
		return "no acknowledgement came: sent again unasked, " + numbers(r)
	case srtcore.TraceACK:
		return fmt.Sprintf("acknowledges up to %d, room for %s", r.Seq.Prev(), many(r.Free, "packet"))
	case srtcore.TraceACKACK:
		if !r.Sent {
			return "round trip " + ms(r.RTT)
		}
	case srtcore.TraceNAK:
		if r.Sent {
			return fmt.Sprintf("asked for, time %d", r.Number)
		}
	}
	return ""
}
