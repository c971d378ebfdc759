package control

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/route"
)

type stats = *srtcore.Stats

func packets(name, help string, v func(stats) int64) metric[stats] {
	return metric[stats]{"weirline_srt_packets_" + name + "_total", help, counter, func(s stats) float64 { return float64(v(s)) }}
}

func bytesOf(name, help string, v func(stats) int64) metric[stats] {
	return metric[stats]{"weirline_srt_bytes_" + name + "_total", help, counter, func(s stats) float64 { return float64(v(s)) }}
}

func level(name, help string, scale float64, v func(stats) float64) metric[stats] {
	return metric[stats]{"weirline_srt_" + name, help, gauge, func(s stats) float64 { return v(s) * scale }}
}

// Factors to the base units of Prometheus.
const (
	one    = 1.0
	milli  = 1e-3
	micro  = 1e-6
	megabt = 1e6 / 8 // Mbit/s to bytes a second
)

// srtCounters are summed for connections without series of their own.
var srtCounters = []metric[stats]{
	packets("sent", "Data packets sent, retransmissions included (pktSentTotal).", func(s stats) int64 { return s.PktSentTotal }),
	packets("received", "Data packets received, duplicates included (pktRecvTotal).", func(s stats) int64 { return s.PktRecvTotal }),
	packets("sent_unique", "Data packets sent for the first time (pktSentUniqueTotal).", func(s stats) int64 { return s.PktSentUniqueTotal }),
	packets("received_unique", "Data packets received for the first time (pktRecvUniqueTotal).", func(s stats) int64 { return s.PktRecvUniqueTotal }),
	packets("send_lost", "Packets the peer reported lost (pktSndLossTotal).", func(s stats) int64 { return s.PktSndLossTotal }),
	packets("receive_lost", "Packets found missing, whether or not they came in the end (pktRcvLossTotal).", func(s stats) int64 { return s.PktRcvLossTotal }),
	packets("retransmitted", "Data packets sent again (pktRetransTotal).", func(s stats) int64 { return s.PktRetransTotal }),
	packets("received_retransmitted", "Retransmitted packets received (pktRcvRetrans).", func(s stats) int64 { return s.PktRcvRetrans }),
	packets("send_dropped", "Packets the sender dropped as too late (pktSndDropTotal).", func(s stats) int64 { return s.PktSndDropTotal }),
	packets("receive_dropped", "Packets the receiver skipped as too late or could not decrypt (pktRcvDropTotal).", func(s stats) int64 { return s.PktRcvDropTotal }),
	packets("receive_undecrypted", "Packets that could not be decrypted (pktRcvUndecryptTotal).", func(s stats) int64 { return s.PktRcvUndecryptTotal }),
	packets("receive_belated", "Packets that came too late to be used, and duplicates (pktRcvBelated).", func(s stats) int64 { return s.PktRcvBelated }),
	packets("ack_sent", "Full ACKs sent (pktSentACKTotal).", func(s stats) int64 { return s.PktSentACKTotal }),
	packets("ack_received", "Full ACKs received (pktRecvACKTotal).", func(s stats) int64 { return s.PktRecvACKTotal }),
	packets("nak_sent", "Loss reports sent (pktSentNAKTotal).", func(s stats) int64 { return s.PktSentNAKTotal }),
	packets("nak_received", "Loss reports received (pktRecvNAKTotal).", func(s stats) int64 { return s.PktRecvNAKTotal }),
	packets("filter_extra_sent", "Packets the packet filter added (pktSndFilterExtraTotal).", func(s stats) int64 { return s.PktSndFilterExtraTotal }),
	packets("filter_extra_received", "Control packets of the peer's packet filter (pktRcvFilterExtraTotal).", func(s stats) int64 { return s.PktRcvFilterExtraTotal }),
	packets("filter_supplied", "Packets the packet filter rebuilt (pktRcvFilterSupplyTotal).", func(s stats) int64 { return s.PktRcvFilterSupplyTotal }),
	packets("filter_lost", "Packets the packet filter could not rebuild (pktRcvFilterLossTotal).", func(s stats) int64 { return s.PktRcvFilterLossTotal }),
	bytesOf("sent", "Bytes of packets sent, 44 bytes of headers each included (byteSentTotal).", func(s stats) int64 { return s.ByteSentTotal }),
	bytesOf("received", "Bytes of packets received, headers included (byteRecvTotal).", func(s stats) int64 { return s.ByteRecvTotal }),
	bytesOf("sent_unique", "Bytes of packets sent for the first time (byteSentUniqueTotal).", func(s stats) int64 { return s.ByteSentUniqueTotal }),
	bytesOf("received_unique", "Bytes of packets received for the first time (byteRecvUniqueTotal).", func(s stats) int64 { return s.ByteRecvUniqueTotal }),
	bytesOf("receive_lost", "Bytes found missing, estimated (byteRcvLossTotal).", func(s stats) int64 { return s.ByteRcvLossTotal }),
	bytesOf("retransmitted", "Bytes sent again (byteRetransTotal).", func(s stats) int64 { return s.ByteRetransTotal }),
	bytesOf("send_dropped", "Bytes the sender dropped (byteSndDropTotal).", func(s stats) int64 { return s.ByteSndDropTotal }),
	bytesOf("receive_dropped", "Bytes the receiver skipped, estimated (byteRcvDropTotal).", func(s stats) int64 { return s.ByteRcvDropTotal }),
	bytesOf("receive_undecrypted", "Bytes that could not be decrypted (byteRcvUndecryptTotal).", func(s stats) int64 { return s.ByteRcvUndecryptTotal }),
	{"weirline_srt_send_duration_seconds_total", "Time with data to send or not acknowledged (usSndDurationTotal).", counter, func(s stats) float64 { return float64(s.UsSndDurationTotal) * micro }},
}

var srtGauges = []metric[stats]{
	level("uptime_seconds", "Age of the connection (msTimeStamp).", milli, func(s stats) float64 { return float64(s.MsTimeStamp) }),
	level("rtt_seconds", "Smoothed round-trip time (msRTT).", milli, func(s stats) float64 { return s.MsRTT }),
	level("path_bytes_per_second", "Estimated capacity of the path (mbpsBandwidth).", megabt, func(s stats) float64 { return s.MbpsBandwidth }),
	level("send_limit_bytes_per_second", "Upper limit of the send rate (mbpsMaxBW).", megabt, func(s stats) float64 { return s.MbpsMaxBW }),
	level("send_period_seconds", "Least time between two packets sent (usPktSndPeriod).", micro, func(s stats) float64 { return s.UsPktSndPeriod }),
	level("flow_window_packets", "Packets the peer has room for (pktFlowWindow).", one, func(s stats) float64 { return float64(s.PktFlowWindow) }),
	level("congestion_window_packets", "Packets the congestion control allows under way (pktCongestionWindow).", one, func(s stats) float64 { return float64(s.PktCongestionWindow) }),
	level("flight_packets", "Packets under way (pktFlightSize).", one, func(s stats) float64 { return float64(s.PktFlightSize) }),
	level("send_buffer_packets", "Packets in the send buffer (pktSndBuf).", one, func(s stats) float64 { return float64(s.PktSndBuf) }),
	level("send_buffer_bytes", "Bytes in the send buffer (byteSndBuf).", one, func(s stats) float64 { return float64(s.ByteSndBuf) }),
	level("send_buffer_seconds", "Time the send buffer spans (msSndBuf).", milli, func(s stats) float64 { return float64(s.MsSndBuf) }),
	level("send_buffer_free_bytes", "Room in the send buffer (byteAvailSndBuf).", one, func(s stats) float64 { return float64(s.ByteAvailSndBuf) }),
	level("receive_buffer_packets", "Packets in the receive buffer (pktRcvBuf).", one, func(s stats) float64 { return float64(s.PktRcvBuf) }),
	level("receive_buffer_bytes", "Bytes in the receive buffer (byteRcvBuf).", one, func(s stats) float64 { return float64(s.ByteRcvBuf) }),
	level("receive_buffer_seconds", "Time the receive buffer spans (msRcvBuf).", milli, func(s stats) float64 { return float64(s.MsRcvBuf) }),
	level("receive_buffer_free_bytes", "Room in the receive buffer (byteAvailRcvBuf).", one, func(s stats) float64 { return float64(s.ByteAvailRcvBuf) }),
	level("send_latency_seconds", "Latency of the peer's receiver (msSndTsbPdDelay).", milli, func(s stats) float64 { return float64(s.MsSndTsbPdDelay) }),
	level("receive_latency_seconds", "Latency of this receiver (msRcvTsbPdDelay).", milli, func(s stats) float64 { return float64(s.MsRcvTsbPdDelay) }),
	level("belated_average_seconds", "By how much belated packets came late (pktRcvAvgBelatedTime).", milli, func(s stats) float64 { return s.PktRcvAvgBelatedTime }),
	level("reorder_distance_packets", "Largest distance by which an original came late (pktReorderDistance).", one, func(s stats) float64 { return float64(s.PktReorderDistance) }),
	level("reorder_tolerance_packets", "Packets for which a gap is taken for reordering (pktReorderTolerance).", one, func(s stats) float64 { return float64(s.PktReorderTolerance) }),
	level("segment_bytes", "Maximum segment size (byteMSS).", one, func(s stats) float64 { return float64(s.ByteMSS) }),
	level("key_bytes", "Length of the AES key, 0 if not encrypted (pbKeyLen).", one, func(s stats) float64 { return float64(s.PBKeyLen) }),
}

var queueMetrics = []metric[route.SessionSnapshot]{
	{"weirline_srt_queue_messages", "Messages that wait in front of the connection.", gauge, func(s route.SessionSnapshot) float64 { return float64(s.Queue.Queued) }},
	{"weirline_srt_queue_bytes", "Bytes that wait in front of the connection.", gauge, func(s route.SessionSnapshot) float64 { return float64(s.Queue.QueuedBytes) }},
	{"weirline_srt_queue_dropped_messages_total", "Messages the queue dropped because the connection was slow.", counter, func(s route.SessionSnapshot) float64 { return float64(s.Queue.Dropped) }},
}

// connectionLabels tell connections apart. The connection's id makes a series
// unique: two players of one name behind one address are two.
var connectionLabels = []string{"connection", "route", "direction", "peer", "stream_id"}

var (
	counterDescs = descs(srtCounters, connectionLabels...)
	gaugeDescs   = descs(srtGauges, connectionLabels...)
	queueDescs   = descs(queueMetrics, connectionLabels...)

	connectionInfo = desc("weirline_srt_connection_info", "Always 1; what else is known of a connection.",
		append(connectionLabels[:len(connectionLabels):len(connectionLabels)], "user", "output", "peer_version", "key_bits", "send_km_state", "receive_km_state")...)
	othersNow = desc("weirline_srt_connections_without_series", "Connections beyond the first 1000; their counters are summed in the series whose labels are all \"other\".")
	srtNow    = desc("weirline_srt_connections", "SRT connections.", "direction")
)

func (c *collector) connections(out chan<- prometheus.Metric, all []Connection) {
	var srt []Connection
	var ids []string
	count := map[string]int{}
	for _, conn := range all {
		if conn.SRT != nil && conn.ID != "" {
			srt, ids = append(srt, conn), append(ids, conn.ID)
			count[conn.Direction]++
		}
	}
	own, others, sums := c.bound.admit(ids, func(i int) []float64 {
		v := make([]float64, len(srtCounters))
		for k, m := range srtCounters {
			v[k] = m.value(srt[i].SRT)
		}
		return v
	})
	for i, conn := range srt {
		if own[i] {
			connection(out, conn)
		}
	}
	send(out, srtNow, gauge, float64(count[Receive]), Receive)
	send(out, srtNow, gauge, float64(count[Send]), Send)
	send(out, othersNow, gauge, float64(others))
	for i, v := range sums {
		send(out, counterDescs[i], counter, v, "other", "other", "other", "other", "other")
	}
}

func connection(out chan<- prometheus.Metric, c Connection) {
	labels := func(more ...string) []string {
		return append([]string{c.ID, c.Route, c.Direction, c.Peer, c.StreamID}, more...)
	}
	sendAll(out, srtCounters, counterDescs, c.SRT, labels()...)
	sendAll(out, srtGauges, gaugeDescs, c.SRT, labels()...)
	sendAll(out, queueMetrics, queueDescs, c.SessionSnapshot, labels()...)
	send(out, connectionInfo, gauge, 1, labels(c.User, c.Output, c.SRT.PeerVersion, strconv.Itoa(c.SRT.PBKeyLen*8), c.SRT.SndKMState, c.SRT.RcvKMState)...)
}
