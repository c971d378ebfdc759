package engine

import "github.com/weirline/weirline/srtcore/internal/mono"

// Record is one line of a flight recorder: a packet, several alike, or a
// decision. What a field means depends on the kind; all are as the wire has them
// or in microseconds. 32 bytes without pointers, so that the collector passes
// over them; a test guards that.
type Record struct {
	At    mono.Time
	Seq   uint32 // first sequence number concerned
	Count uint32 // numbers concerned, from Seq on
	Stamp uint32 // the packet's time stamp, 0 if it is gone already
	Aux   uint32 // a duration in us, signed where it may be
	Info  uint32
	Size  uint16 // payload, bytes
	Kind  RecordKind
	Flags RecordFlags
}

// RecordFlags say more about a Record.
type RecordFlags uint8

const (
	// RecSent: this side sent the control packet; else it received it.
	RecSent RecordFlags = 1 << iota
	// RecRexmit: the data packet has the R flag.
	RecRexmit
	// RecDouble: the packet is there already.
	RecDouble
	// recAnswered: the ACKACK that answers this ACK was sent at the same instant.
	// Recorded.Records tells of it as a record of its own.
	recAnswered
)

// RecordKind says what a Record is about.
type RecordKind uint8

const (
	// RecConnected: Seq initial number, Aux own latency, Info the peer's (us).
	RecConnected RecordKind = iota + 1
	// RecPeerGone: the peer said SHUTDOWN, or Info 1: it is silent.
	RecPeerGone

	// RecRcvRun: undisturbed packets Seq, Count in order. At, Stamp and Size are
	// those of the last one.
	RecRcvRun
	// RecRcvGap: Seq, Count are missing when the packet behind them came, which
	// has Stamp. Aux: since the packet before it came; Info: until the packet
	// behind it is to be played, signed.
	RecRcvGap
	// RecRcvFill: a missing packet came. Aux: until it is to be played, signed.
	RecRcvFill
	// RecRcvBelated: a packet came that is there already (RecDouble), or was
	// delivered or given up before. Aux: how late after its play time, signed.
	RecRcvBelated
	// RecRcvDrop: Seq, Count were given up as too late.
	RecRcvDrop
	// RecRcvNoRoom: a packet lies beyond the end of the buffer and was thrown away.
	RecRcvNoRoom
	// RecRcvResync: Seq, Count were given up because the sender has left the
	// buffer behind.
	RecRcvResync
	// RecRcvUndecrypt: packets could not be decrypted. Info: their KK.
	RecRcvUndecrypt
	// RecRcvLate: messages were handed over late. Aux: the most.
	RecRcvLate

	// RecSndRun: like RecRcvRun, of new packets sent.
	RecSndRun
	// RecSndRexmit: a packet was sent again. Aux: since it was sent before.
	RecSndRexmit
	// RecSndDrop: Seq, Count were dropped as too late for the peer. Aux: age of the
	// oldest; Info: how many of them were never sent.
	RecSndDrop
	// RecSndFull: a message was refused, the buffer being full; Count times.
	RecSndFull
	// RecSndWindow: new packets wait because the peer's buffer is full.
	RecSndWindow
	// RecSndBudget: retransmission of Seq waits: the bandwidth allowed for it is
	// used up.
	RecSndBudget
	// RecSndProbe: nothing was acknowledged for a while; Seq, Count are sent again
	// unasked.
	RecSndProbe

	// RecACK: a full ACK. Seq: first number not received, Count: free buffer in
	// packets, Aux: round-trip time in it, Info: ACK number. Light ACKs are not
	// recorded: the next full one says the same.
	RecACK
	// RecACKACK: Info: ACK number, Aux when received: the round-trip time measured.
	RecACKACK
	// RecNAK: Seq, Count are asked for, one record a range. Info: for the how
	// manieth time, if this side asks.
	RecNAK
	// RecDropReq: the sender no longer has Seq, Count.
	RecDropReq
	RecKeepAlive
	RecShutdown
	// RecKM: Info: extension type, request or response.
	RecKM
	RecHandshake
)
