package srtcore

import (
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/wire"
)

func TestConvertStats(t *testing.T) {
	s := convertStats(engine.Stats{
		Age:  2 * time.Second,
		Sent: engine.Count{Packets: 10, Bytes: 1_000_000}, Recv: engine.Count{Packets: 20, Bytes: 500_000},
		Belated: engine.Count{Packets: 3}, BelatedTime: 1500 * time.Microsecond,
		SndPeriod: 10 * time.Microsecond, RTT: 1200 * time.Microsecond, MaxBW: 125_000_000, MSS: 1500,
		SndBufFreePkts: 8192, CapacityPkts: 1000, FlowWindow: 99,
		SndKMState: wire.KMSecured, KeyLen: 16, PeerVersion: 0x010505,
	})
	want := Stats{
		MsTimeStamp: 2000, PktSentTotal: 10, PktSent: 10, ByteSentTotal: 1_000_000, ByteSent: 1_000_000,
		PktRecvTotal: 20, PktRecv: 20, ByteRecvTotal: 500_000, ByteRecv: 500_000,
		PktRcvBelated: 3, PktRcvAvgBelatedTime: 1.5, MbpsSendRate: 4, MbpsRecvRate: 2,
		UsPktSndPeriod: 10, MsRTT: 1.2, MbpsMaxBW: 1000, ByteMSS: 1500, ByteAvailSndBuf: 8192 * 1500,
		MbpsBandwidth: 12, PktFlowWindow: 99, PktCongestionWindow: 99,
		SndKMState: "SECURED", RcvKMState: "UNSECURED", PBKeyLen: 16, PeerVersion: "1.5.5",
	}
	if s != want {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}
