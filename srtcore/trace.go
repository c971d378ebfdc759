package srtcore

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/loop"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
)

// Trace is the content of a connection's flight recorder: what came, went and
// was decided lately, without payload. Packets of an undisturbed stream are not
// recorded one by one but as runs; everything else is. See Config.TraceRecords.
type Trace struct {
	// Began is the time of the first record, Taken when the recorder was read.
	Began time.Time `json:"began"`
	Taken time.Time `json:"taken"`
	// Ended is why the connection has ended; empty: it has not.
	Ended string `json:"ended,omitempty"`

	Local        netip.AddrPort `json:"local"`
	Remote       netip.AddrPort `json:"remote"`
	SocketID     uint32         `json:"socketID"`
	PeerSocketID uint32         `json:"peerSocketID"`
	Caller       bool           `json:"caller"` // this side called
	StreamID     string         `json:"streamID,omitempty"`
	PeerVersion  string         `json:"peerVersion"`

	RcvLatency  time.Duration `json:"rcvLatency"`  // delay of this side's receiver
	PeerLatency time.Duration `json:"peerLatency"` // delay of the peer's
	TooLateDrop bool          `json:"tooLateDrop"` // this side's receiver gives up what is too late
	RTT         time.Duration `json:"rtt"`         // smoothed, when read
	RTTVar      time.Duration `json:"rttVar"`
	Drift       time.Duration `json:"drift"` // as far as the drift tracer has followed
	// PeerRate is the highest rate, smoothed, at which the peer said it received,
	// bytes per second (draft section 3.2.4, Receiving Rate); 0: it has not said.
	PeerRate uint32 `json:"peerRate,omitempty"`

	// Lost is how many records were given up for want of room or because they were
	// old; 0: the trace begins with the connection.
	Lost    uint64        `json:"lost"`
	Records []TraceRecord `json:"records"`
}

// TraceRecord is a packet, several alike, or a decision. Which fields a kind
// uses is said there; At is always set. Times in JSON are nanoseconds.
type TraceRecord struct {
	At   time.Duration `json:"at"` // since Trace.Began
	Kind TraceKind     `json:"kind"`
	Sent bool          `json:"sent,omitempty"` // by this side; else received, or decided here
	// Seq and Count are the packets concerned.
	Seq   seq.Number `json:"seq,omitempty"`
	Count int        `json:"count,omitempty"`
	// Stamp is the packet's time stamp, Size its payload; of a run, the last
	// packet's. 0: not known any more.
	Stamp  uint32 `json:"stamp,omitempty"`
	Size   int    `json:"size,omitempty"`
	Rexmit bool   `json:"rexmit,omitempty"` // R is set
	Double bool   `json:"double,omitempty"` // belated: the packet is here already
	Number uint32 `json:"number,omitempty"` // of an ACK; of a sent NAK, the how manieth
	Free   int    `json:"free,omitempty"`   // ack: room in the receiver's buffer, packets
	Unsent int    `json:"unsent,omitempty"` // sender-drop: how many were never sent

	// Left is the time until the packet's play time; negative: it is over.
	Left time.Duration `json:"left,omitempty"`
	// Since is, of a gap, the time since the packet before it came; of a
	// retransmission, since it was sent before; of a sender's drop, the age of the
	// oldest packet.
	Since time.Duration `json:"since,omitempty"`
	RTT   time.Duration `json:"rtt,omitempty"` // ack and ackack: the round-trip time
}

// End returns the number behind the last packet concerned.
func (r TraceRecord) End() seq.Number { return r.Seq.Add(r.Count) }

// Trace returns a copy of the flight recorder. Without one (TraceRecords is 0)
// it has no records. It may be asked for after the connection has ended.
func (c *Conn) Trace() Trace {
	wall, at := time.Now(), loop.Now()
	r := c.lc.Recording(c.records)
	t := newTrace(r, func(m mono.Time) time.Time { return wall.Add(m.Sub(at)) })
	info := c.lc.Info()
	t.Local, t.Remote = addrPort(c.local), addrPort(c.remote)
	t.StreamID, t.PeerVersion = info.StreamID, versionText(info.PeerVersion)
	t.RcvLatency, t.PeerLatency = info.RcvLatency, info.PeerLatency
	if err := c.Err(); err != nil {
		t.Ended = err.Error()
	}
	return t
}

func addrPort(a *net.UDPAddr) netip.AddrPort {
	ap := a.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

func newTrace(r loop.Recording, wall func(mono.Time) time.Time) Trace {
	t := Trace{
		Taken: wall(r.Taken), Began: wall(r.Taken), SocketID: uint32(r.SocketID), PeerSocketID: uint32(r.PeerID),
		Caller: r.Caller, TooLateDrop: r.TLPktDrop, RTT: r.RTT, RTTVar: r.RTTVar, Drift: r.Drift, PeerRate: r.PeerRate,
		Lost: r.Lost, Records: make([]TraceRecord, len(r.Records)),
	}
	if len(r.Records) == 0 {
		return t
	}
	// A run is noted when it is over: its last packet may be older than the record
	// before it.
	slices.SortStableFunc(r.Records, func(a, b engine.Record) int { return cmp.Compare(a.At, b.At) })
	first := r.Records[0].At
	t.Began = wall(first)
	for i := range r.Records {
		t.Records[i] = traceRecord(&r.Records[i], first)
	}
	return t
}

func traceRecord(r *engine.Record, first mono.Time) TraceRecord {
	micros := func(v uint32) time.Duration { return time.Duration(int32(v)) * time.Microsecond }
	t := TraceRecord{
		At: r.At.Sub(first), Kind: TraceKind(r.Kind), Sent: r.Flags&engine.RecSent != 0,
		Seq: seq.Number(r.Seq) & seq.Max, Count: int(r.Count), Stamp: r.Stamp, Size: int(r.Size),
		Rexmit: r.Flags&engine.RecRexmit != 0, Double: r.Flags&engine.RecDouble != 0,
	}
	switch r.Kind {
	case engine.RecRcvGap:
		t.Since, t.Left = micros(r.Aux), micros(r.Info)
	case engine.RecRcvFill:
		t.Left = micros(r.Aux)
	case engine.RecRcvBelated, engine.RecRcvLate:
		t.Left = -micros(r.Aux)
	case engine.RecSndRun, engine.RecSndRexmit:
		t.Sent, t.Since = true, micros(r.Aux)
	case engine.RecSndDrop:
		t.Since, t.Unsent = micros(r.Aux), int(r.Info)
	case engine.RecACK:
		t.Free, t.Count = int(r.Count), 0
		t.RTT, t.Number = micros(r.Aux), r.Info
	case engine.RecACKACK:
		t.RTT, t.Number = micros(r.Aux), r.Info
	case engine.RecNAK, engine.RecKM, engine.RecPeerGone:
		t.Number = r.Info
	}
	return t
}
