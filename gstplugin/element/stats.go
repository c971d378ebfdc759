package element

import (
	"net/netip"

	"github.com/weirline/weirline/srtcore"
)

// FieldKind is the GType of a statistics field.
type FieldKind int

// The kinds of fields.
const (
	Int FieldKind = iota
	Int64
	Uint64
	Double
)

// Field is one number of a connection: F of a Double, I of all others.
type Field struct {
	Name string
	Kind FieldKind
	I    int64
	F    float64
}

// ConnStats are the numbers of one connection under the stock elements' names.
type ConnStats struct {
	Caller netip.AddrPort // the peer
	Fields []Field
}

// Stats are the statistics of an element. A caller's are flat: the Fields of
// Conns[0], if it is connected; a listener has one Conns for each caller.
type Stats struct {
	Total    uint64 // payload bytes received, or sent to all callers ever; never goes down
	Listener bool
	Conns    []ConnStats
}

// fields puts a connection's counters under the stock elements' names, in their
// order. What counts bytes has 44 bytes of headers a packet in it, as libsrt's.
func fields(s srtcore.Stats) []Field {
	i32 := func(name string, v int64) Field { return Field{Name: name, Kind: Int, I: v} }
	i64 := func(name string, v int64) Field { return Field{Name: name, Kind: Int64, I: v} }
	u64 := func(name string, v int64) Field { return Field{Name: name, Kind: Uint64, I: v} }
	real := func(name string, v float64) Field { return Field{Name: name, Kind: Double, F: v} }
	return []Field{
		i64("packets-sent", s.PktSent),
		i32("packets-sent-lost", s.PktSndLoss),
		i32("packets-retransmitted", s.PktRetrans),
		i32("packet-ack-received", s.PktRecvACK),
		i32("packet-nack-received", s.PktRecvNAK),
		u64("send-duration-us", s.UsSndDuration),
		u64("bytes-sent", s.ByteSent),
		u64("bytes-retransmitted", s.ByteRetrans),
		u64("bytes-sent-dropped", s.ByteSndDrop),
		i32("packets-sent-dropped", s.PktSndDrop),
		real("send-rate-mbps", s.MbpsSendRate),
		i32("negotiated-latency-ms", s.MsRcvTsbPdDelay),
		i64("packets-received", s.PktRecvTotal),
		i32("packets-received-lost", s.PktRcvLossTotal),
		i32("packets-received-retransmitted", s.PktRcvRetrans),
		i32("packets-received-dropped", s.PktRcvDropTotal),
		i32("packet-ack-sent", s.PktSentACK),
		i32("packet-nack-sent", s.PktSentNAK),
		u64("bytes-received", s.ByteRecvTotal),
		u64("bytes-received-lost", s.ByteRcvLossTotal),
		real("receive-rate-mbps", s.MbpsRecvRate),
		real("bandwidth-mbps", s.MbpsBandwidth),
		real("rtt-ms", s.MsRTT),
	}
}
