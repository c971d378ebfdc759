package srtcore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirline/weirline/srtcore/internal/engine"
)

// TraceKind says what a TraceRecord is about. Its text is its name in JSON.
type TraceKind uint8

// The kinds of records, with the fields that each uses.
const (
	// TraceConnected: the connection stands. Seq: its initial number.
	TraceConnected = TraceKind(engine.RecConnected)
	// TracePeerGone: the peer has said SHUTDOWN, or (Number 1) is silent.
	TracePeerGone = TraceKind(engine.RecPeerGone)

	// TraceReceived: Count packets from Seq on came in order and undisturbed; At,
	// Stamp and Size are the last one's.
	TraceReceived = TraceKind(engine.RecRcvRun)
	// TraceGap: Count packets from Seq on are missing; the one behind them just
	// came. Since; Left: of the packet behind them; Stamp: of that packet.
	TraceGap = TraceKind(engine.RecRcvGap)
	// TraceFilled: a missing packet came. Seq, Rexmit, Left, Stamp, Size.
	TraceFilled = TraceKind(engine.RecRcvFill)
	// TraceBelated: a packet came that was here before, or that was given up
	// already. Seq, Rexmit, Double, Left, Stamp, Size.
	TraceBelated = TraceKind(engine.RecRcvBelated)
	// TraceGivenUp: Count packets from Seq on are skipped, their time being over.
	TraceGivenUp = TraceKind(engine.RecRcvDrop)
	// TraceNoRoom: packets lay beyond the end of the receive buffer. Seq, Count.
	TraceNoRoom = TraceKind(engine.RecRcvNoRoom)
	// TraceResync: the sender has left the receive buffer behind; Count packets
	// from Seq on are skipped.
	TraceResync = TraceKind(engine.RecRcvResync)
	// TraceUndecryptable: packets came that could not be decrypted. Seq, Count.
	TraceUndecryptable = TraceKind(engine.RecRcvUndecrypt)
	// TraceLate: messages were handed over late. Seq, Count, Left (negative).
	TraceLate = TraceKind(engine.RecRcvLate)

	// TraceSent: like TraceReceived, of packets sent for the first time.
	TraceSent = TraceKind(engine.RecSndRun)
	// TraceResent: a retransmission. Seq, Since, Stamp, Size.
	TraceResent = TraceKind(engine.RecSndRexmit)
	// TraceSenderDrop: the sender dropped Count packets from Seq on, as too late
	// for the peer. Since, Unsent.
	TraceSenderDrop = TraceKind(engine.RecSndDrop)
	// TraceBufferFull: a message was refused, the send buffer being full. Count:
	// how often in a row.
	TraceBufferFull = TraceKind(engine.RecSndFull)
	// TraceWindowFull: sending waits, since the peer's receive buffer is full.
	TraceWindowFull = TraceKind(engine.RecSndWindow)
	// TraceNoBudget: a retransmission waits, since the bandwidth allowed for them
	// (oheadbw) is used up.
	TraceNoBudget = TraceKind(engine.RecSndBudget)
	// TraceProbe: no acknowledgement came; Count packets from Seq on are sent again
	// unasked.
	TraceProbe = TraceKind(engine.RecSndProbe)

	// TraceACK: a full acknowledgement. Seq: first number not received, Free, RTT,
	// Number, Stamp.
	TraceACK = TraceKind(engine.RecACK)
	// TraceACKACK: Number, Stamp; received: RTT, the sample.
	TraceACKACK = TraceKind(engine.RecACKACK)
	// TraceNAK: a loss report, one record a range. Seq, Count, Stamp.
	TraceNAK = TraceKind(engine.RecNAK)
	// TraceDropReq: the sender no longer has Count packets from Seq on.
	TraceDropReq = TraceKind(engine.RecDropReq)
	// TraceKeepAlive: a KEEPALIVE.
	TraceKeepAlive = TraceKind(engine.RecKeepAlive)
	// TraceShutdown: a SHUTDOWN.
	TraceShutdown = TraceKind(engine.RecShutdown)
	// TraceKey: key material, or the answer to it (Number: extension type).
	TraceKey = TraceKind(engine.RecKM)
	// TraceHandshake: a handshake message.
	TraceHandshake = TraceKind(engine.RecHandshake)
)

var traceNames = [...]string{
	TraceConnected: "connected", TracePeerGone: "peer-gone",
	TraceReceived: "received", TraceGap: "gap", TraceFilled: "filled", TraceBelated: "belated",
	TraceGivenUp: "given-up", TraceNoRoom: "no-room", TraceResync: "resync",
	TraceUndecryptable: "undecryptable", TraceLate: "late",
	TraceSent: "sent", TraceResent: "resent", TraceSenderDrop: "sender-drop", TraceBufferFull: "buffer-full",
	TraceWindowFull: "window-full", TraceNoBudget: "no-budget", TraceProbe: "probe",
	TraceACK: "ack", TraceACKACK: "ackack", TraceNAK: "nak", TraceDropReq: "dropreq",
	TraceKeepAlive: "keepalive", TraceShutdown: "shutdown", TraceKey: "key", TraceHandshake: "handshake",
}

func (k TraceKind) String() string {
	if int(k) < len(traceNames) && k > 0 {
		return traceNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// MarshalText writes the name.
func (k TraceKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *TraceKind) UnmarshalText(text []byte) error {
	i := slices.Index(traceNames[1:], string(text))
	if i < 0 {
		return fmt.Errorf("srt: record kind %q is unknown: allowed %s", text, strings.Join(traceNames[1:], ", "))
	}
	*k = TraceKind(i + 1)
	return nil
}
