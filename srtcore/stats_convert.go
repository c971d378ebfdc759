package srtcore

import (
	"fmt"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
)

// convertStats puts the engine's snapshot under libsrt's names.
func convertStats(e engine.Stats) Stats {
	s := Stats{
		MsTimeStamp: e.Age.Milliseconds(),

		PktSentTotal: packets(e.Sent), ByteSentTotal: bytes(e.Sent),
		PktSentUniqueTotal: packets(e.SentUnique), ByteSentUniqueTotal: bytes(e.SentUnique),
		PktRetransTotal: packets(e.Retrans), ByteRetransTotal: bytes(e.Retrans),
		PktRecvTotal: packets(e.Recv), ByteRecvTotal: bytes(e.Recv),
		PktRecvUniqueTotal: packets(e.RecvUnique), ByteRecvUniqueTotal: bytes(e.RecvUnique),
		PktSndLossTotal: packets(e.SndLoss),
		PktRcvLossTotal: packets(e.RcvLoss), ByteRcvLossTotal: bytes(e.RcvLoss),
		PktSndDropTotal: packets(e.SndDrop), ByteSndDropTotal: bytes(e.SndDrop),
		PktRcvDropTotal: packets(e.RcvDrop), ByteRcvDropTotal: bytes(e.RcvDrop),
		PktRcvUndecryptTotal: packets(e.Undecrypt), ByteRcvUndecryptTotal: bytes(e.Undecrypt),
		PktSentACKTotal: int64(e.SentACK), PktRecvACKTotal: int64(e.RecvACK),
		PktSentNAKTotal: int64(e.SentNAK), PktRecvNAKTotal: int64(e.RecvNAK),
		UsSndDurationTotal: e.SndDuration.Microseconds(),
	}
	s.sinceStart(e)
	s.instant(e)
	return s
}

func packets(c engine.Count) int64 { return int64(c.Packets) }
func bytes(c engine.Count) int64   { return int64(c.Bytes) }

// sinceStart fills the interval values, for the interval since the beginning.
func (s *Stats) sinceStart(e engine.Stats) {
	s.PktSent, s.ByteSent = s.PktSentTotal, s.ByteSentTotal
	s.PktSentUnique, s.ByteSentUnique = s.PktSentUniqueTotal, s.ByteSentUniqueTotal
	s.PktRetrans, s.ByteRetrans = s.PktRetransTotal, s.ByteRetransTotal
	s.PktRecv, s.ByteRecv = s.PktRecvTotal, s.ByteRecvTotal
	s.PktRecvUnique, s.ByteRecvUnique = s.PktRecvUniqueTotal, s.ByteRecvUniqueTotal
	s.PktSndLoss = s.PktSndLossTotal
	s.PktRcvLoss, s.ByteRcvLoss = s.PktRcvLossTotal, s.ByteRcvLossTotal
	s.PktSndDrop, s.ByteSndDrop = s.PktSndDropTotal, s.ByteSndDropTotal
	s.PktRcvDrop, s.ByteRcvDrop = s.PktRcvDropTotal, s.ByteRcvDropTotal
	s.PktRcvUndecrypt, s.ByteRcvUndecrypt = s.PktRcvUndecryptTotal, s.ByteRcvUndecryptTotal
	s.PktSentACK, s.PktRecvACK = s.PktSentACKTotal, s.PktRecvACKTotal
	s.PktSentNAK, s.PktRecvNAK = s.PktSentNAKTotal, s.PktRecvNAKTotal
	s.UsSndDuration = s.UsSndDurationTotal
	s.PktRcvRetrans = int64(e.RcvRetrans)
	s.PktRcvBelated = packets(e.Belated)
	s.PktRcvAvgBelatedTime = ms(e.BelatedTime)
	s.PktReorderDistance = int64(e.ReorderDistance)
	s.MbpsSendRate = mbps(s.ByteSent, s.MsTimeStamp)
	s.MbpsRecvRate = mbps(s.ByteRecv, s.MsTimeStamp)
}

// instant fills the values of this moment.
func (s *Stats) instant(e engine.Stats) {
	full := int64(e.MSS)
	s.UsPktSndPeriod = float64(e.SndPeriod) / float64(time.Microsecond)
	s.PktFlowWindow = int64(e.FlowWindow)
	s.PktCongestionWindow = int64(e.FlowWindow) // live mode has no other
	s.PktFlightSize = int64(e.FlightSize)
	s.MsRTT = ms(e.RTT)
	s.MbpsBandwidth = float64(int64(e.CapacityPkts)*full*8) / 1e6
	s.ByteAvailSndBuf = int64(e.SndBufFreePkts) * full
	s.ByteAvailRcvBuf = int64(e.RcvBufFreePkts) * full
	s.MbpsMaxBW = float64(e.MaxBW) * 8 / 1e6
	s.ByteMSS = full
	s.PktSndBuf, s.ByteSndBuf = int64(e.SndBufPkts), int64(e.SndBufBytes)
	s.MsSndBuf = e.SndBufSpan.Milliseconds()
	s.MsSndTsbPdDelay = e.SndTSBPDDelay.Milliseconds()
	s.PktRcvBuf, s.ByteRcvBuf = int64(e.RcvBufPkts), int64(e.RcvBufBytes)
	s.MsRcvBuf = e.RcvBufSpan.Milliseconds()
	s.MsRcvTsbPdDelay = e.RcvTSBPDDelay.Milliseconds()
	s.PktReorderTolerance = int64(e.ReorderTolerance)
	s.SndKMState, s.RcvKMState = e.SndKMState.String(), e.RcvKMState.String()
	s.PBKeyLen = e.KeyLen
	s.PeerVersion = versionText(e.PeerVersion)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// versionText writes 0x00MMmmpp as MM.mm.pp.
func versionText(v uint32) string {
	return fmt.Sprintf("%d.%d.%d", v>>16&0xff, v>>8&0xff, v&0xff)
}
