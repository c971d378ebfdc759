package trace

import (
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

const msec = time.Millisecond

// sample is a receiver's trace with one repaired gap and one that was lost.
func sample() srtcore.Trace {
	return srtcore.Trace{
		Began: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Taken: time.Date(2026, 5, 4, 3, 2, 11, 0, time.UTC),
		Local: netip.MustParseAddrPort("192.0.2.1:9000"), Remote: netip.MustParseAddrPort("198.51.100.7:40000"),
		SocketID: 77, PeerSocketID: 99, StreamID: "live/a", PeerVersion: "1.5.5",
		RcvLatency: 120 * msec, PeerLatency: 120 * msec, TooLateDrop: true, RTT: 40 * msec, RTTVar: 2 * msec,
		Records: []srtcore.TraceRecord{
			{At: 0, Kind: srtcore.TraceConnected, Seq: 1000},
			{At: 9 * msec, Kind: srtcore.TraceReceived, Seq: 1000, Count: 10, Stamp: 5000, Size: 1316},
			{At: 10 * msec, Kind: srtcore.TraceACK, Sent: true, Seq: 1010, Number: 1, Free: 8000, RTT: 40 * msec, Stamp: 10000},
			{At: 50 * msec, Kind: srtcore.TraceACKACK, Number: 1, RTT: 40 * msec, Stamp: 30000},
			{At: 51 * msec, Kind: srtcore.TraceReceived, Seq: 1010, Count: 5, Stamp: 6000, Size: 1316},
			{At: 52 * msec, Kind: srtcore.TraceGap, Seq: 1015, Count: 2, Since: msec, Left: 100 * msec, Stamp: 7000},
			{At: 52 * msec, Kind: srtcore.TraceNAK, Sent: true, Seq: 1015, Count: 2, Number: 1, Stamp: 52000},
			{At: 93 * msec, Kind: srtcore.TraceFilled, Seq: 1015, Count: 1, Rexmit: true, Left: 57 * msec, Stamp: 6500, Size: 188},
			{At: 94 * msec, Kind: srtcore.TraceFilled, Seq: 1016, Count: 1, Rexmit: true, Left: 56 * msec, Stamp: 6600, Size: 188},
			{At: 95 * msec, Kind: srtcore.TraceReceived, Seq: 1017, Count: 1, Stamp: 7000, Size: 1316},
			{At: 100 * msec, Kind: srtcore.TraceGap, Seq: 1018, Count: 1, Since: msec, Left: 30 * msec, Stamp: 8000},
			{At: 100 * msec, Kind: srtcore.TraceNAK, Sent: true, Seq: 1018, Count: 1, Number: 1, Stamp: 100000},
			{At: 130 * msec, Kind: srtcore.TraceGivenUp, Seq: 1018, Count: 1},
			{At: 141 * msec, Kind: srtcore.TraceBelated, Seq: 1018, Count: 1, Rexmit: true, Left: -12 * msec, Stamp: 7800, Size: 188},
			{At: 160 * msec, Kind: srtcore.TraceReceived, Seq: 1019, Count: 20, Stamp: 9000, Size: 1316},
			{At: 900 * msec, Kind: srtcore.TraceUndecryptable, Seq: 1039, Count: 3},
		},
	}
}

func TestExplainTellsEachGap(t *testing.T) {
	r := Explain(sample())
	if len(r.Gaps) != 3 || r.Received.Missing != 3 || r.Received.Lost != 4 || r.Received.Resent != 3 || r.RTT.Median != 40 {
		t.Fatalf("%+v", r)
	}
	first, second, third := r.Gaps[0], r.Gaps[1], r.Gaps[2]
	if first.Cause != Repaired || first.Repaired != 2 || first.RepairMs != 42 || first.SpareMs != 56 || first.Asked != 1 {
		t.Errorf("%+v", first)
	}
	if second.Cause != LatencyTooSmall || second.Lost != 1 || second.LateMs != 12 || second.TooLate != 1 {
		t.Errorf("%+v", second)
	}
	if third.Cause != Undecryptable || third.Lost != 3 {
		t.Errorf("%+v", third)
	}
}
