package srtcore

// Stats are the counters of a connection, under the names of libsrt's
// SRT_TRACEBSTATS: Go capitals in the fields, the original names in JSON and
// CSV. The prefix of a name is its unit: pkt packets, byte bytes, ms
// milliseconds, us microseconds, mbps megabits per second. Byte counters include
// 44 bytes of IP, UDP and SRT header a packet, as libsrt's do.
type Stats struct {
	// Totals since the connection began.

	// MsTimeStamp: time since the connection began, milliseconds.
	MsTimeStamp int64 `json:"msTimeStamp"`
	// PktSentTotal: data packets sent, retransmissions included.
	PktSentTotal int64 `json:"pktSentTotal"`
	// PktRecvTotal: data packets received, duplicates included.
	PktRecvTotal int64 `json:"pktRecvTotal"`
	// PktSndLossTotal: packets newly reported lost by the peer (NAK).
	PktSndLossTotal int64 `json:"pktSndLossTotal"`
	// PktRcvLossTotal: packets found missing on arrival of a later one,
	// whether or not they came in the end.
	PktRcvLossTotal int64 `json:"pktRcvLossTotal"`
	// PktRetransTotal: data packets retransmitted.
	PktRetransTotal int64 `json:"pktRetransTotal"`
	// PktSentACKTotal: ACK packets sent, without light ACKs.
	PktSentACKTotal int64 `json:"pktSentACKTotal"`
	// PktRecvACKTotal: ACK packets received, without light ACKs.
	PktRecvACKTotal int64 `json:"pktRecvACKTotal"`
	// PktSentNAKTotal: NAK packets sent.
	PktSentNAKTotal int64 `json:"pktSentNAKTotal"`
	// PktRecvNAKTotal: NAK packets received.
	PktRecvNAKTotal int64 `json:"pktRecvNAKTotal"`
	// UsSndDurationTotal: time with data to send or unacknowledged,
	// microseconds.
	UsSndDurationTotal int64 `json:"usSndDurationTotal"`
	// PktSndDropTotal: packets the sender dropped as too late.
	PktSndDropTotal int64 `json:"pktSndDropTotal"`
	// PktRcvDropTotal: packets the receiver skipped as too late or could not
	// decrypt.
	PktRcvDropTotal int64 `json:"pktRcvDropTotal"`
	// PktRcvUndecryptTotal: packets that could not be decrypted.
	PktRcvUndecryptTotal int64 `json:"pktRcvUndecryptTotal"`
	// ByteSentTotal: bytes of PktSentTotal, 44 bytes of headers a packet
	// included.
	ByteSentTotal int64 `json:"byteSentTotal"`
	// ByteRecvTotal: bytes of PktRecvTotal, headers included.
	ByteRecvTotal int64 `json:"byteRecvTotal"`
	// ByteRcvLossTotal: bytes of PktRcvLossTotal, estimated from the average
	// size.
	ByteRcvLossTotal int64 `json:"byteRcvLossTotal"`
	// ByteRetransTotal: bytes of PktRetransTotal, headers included.
	ByteRetransTotal int64 `json:"byteRetransTotal"`
	// ByteSndDropTotal: bytes of PktSndDropTotal, headers included.
	ByteSndDropTotal int64 `json:"byteSndDropTotal"`
	// ByteRcvDropTotal: bytes of PktRcvDropTotal, estimated from the average
	// size.
	ByteRcvDropTotal int64 `json:"byteRcvDropTotal"`
	// ByteRcvUndecryptTotal: bytes of PktRcvUndecryptTotal, headers
	// included.
	ByteRcvUndecryptTotal int64 `json:"byteRcvUndecryptTotal"`

	// Interval values: since the connection began in Conn.Stats, since the
	// previous call in Conn.StatsInterval and Sub.

	// PktSent: data packets sent, retransmissions included.
	PktSent int64 `json:"pktSent"`
	// PktRecv: data packets received, duplicates included.
	PktRecv int64 `json:"pktRecv"`
	// PktSndLoss: packets newly reported lost by the peer.
	PktSndLoss int64 `json:"pktSndLoss"`
	// PktRcvLoss: packets found missing.
	PktRcvLoss int64 `json:"pktRcvLoss"`
	// PktRetrans: data packets retransmitted.
	PktRetrans int64 `json:"pktRetrans"`
	// PktRcvRetrans: retransmitted packets received.
	PktRcvRetrans int64 `json:"pktRcvRetrans"`
	// PktSentACK: ACK packets sent, without light ACKs.
	PktSentACK int64 `json:"pktSentACK"`
	// PktRecvACK: ACK packets received, without light ACKs.
	PktRecvACK int64 `json:"pktRecvACK"`
	// PktSentNAK: NAK packets sent.
	PktSentNAK int64 `json:"pktSentNAK"`
	// PktRecvNAK: NAK packets received.
	PktRecvNAK int64 `json:"pktRecvNAK"`
	// MbpsSendRate: rate of ByteSent, megabits per second.
	MbpsSendRate float64 `json:"mbpsSendRate"`
	// MbpsRecvRate: rate of ByteRecv, megabits per second.
	MbpsRecvRate float64 `json:"mbpsRecvRate"`
	// UsSndDuration: time with data to send or unacknowledged, microseconds.
	UsSndDuration int64 `json:"usSndDuration"`
	// PktReorderDistance: largest distance, in packets, by which an original
	// arrived late; the largest since the connection began.
	PktReorderDistance int64 `json:"pktReorderDistance"`
	// PktRcvAvgBelatedTime: by how much packets counted in PktRcvBelated
	// came late, average, milliseconds.
	PktRcvAvgBelatedTime float64 `json:"pktRcvAvgBelatedTime"`
	// PktRcvBelated: packets that came too late to be used, and duplicates.
	PktRcvBelated int64 `json:"pktRcvBelated"`
	// PktSndDrop: packets the sender dropped as too late.
	PktSndDrop int64 `json:"pktSndDrop"`
	// PktRcvDrop: packets the receiver skipped or could not decrypt.
	PktRcvDrop int64 `json:"pktRcvDrop"`
	// PktRcvUndecrypt: packets that could not be decrypted.
	PktRcvUndecrypt int64 `json:"pktRcvUndecrypt"`
	// ByteSent: bytes of PktSent, headers included.
	ByteSent int64 `json:"byteSent"`
	// ByteRecv: bytes of PktRecv, headers included.
	ByteRecv int64 `json:"byteRecv"`
	// ByteRcvLoss: bytes of PktRcvLoss, estimated.
	ByteRcvLoss int64 `json:"byteRcvLoss"`
	// ByteRetrans: bytes of PktRetrans, headers included.
	ByteRetrans int64 `json:"byteRetrans"`
	// ByteSndDrop: bytes of PktSndDrop, headers included.
	ByteSndDrop int64 `json:"byteSndDrop"`
	// ByteRcvDrop: bytes of PktRcvDrop, estimated.
	ByteRcvDrop int64 `json:"byteRcvDrop"`
	// ByteRcvUndecrypt: bytes of PktRcvUndecrypt, headers included.
	ByteRcvUndecrypt int64 `json:"byteRcvUndecrypt"`

	// Instantaneous values, as of now.

	// UsPktSndPeriod: least time between two packets sent, microseconds.
	UsPktSndPeriod float64 `json:"usPktSndPeriod"`
	// PktFlowWindow: packets the peer has room for.
	PktFlowWindow int64 `json:"pktFlowWindow"`
	// PktCongestionWindow: packets the congestion control allows under way.
	PktCongestionWindow int64 `json:"pktCongestionWindow"`
	// PktFlightSize: packets under way, sent and not acknowledged.
	PktFlightSize int64 `json:"pktFlightSize"`
	// MsRTT: smoothed round-trip time, milliseconds.
	MsRTT float64 `json:"msRTT"`
	// MbpsBandwidth: estimated capacity of the path, megabits per second.
	MbpsBandwidth float64 `json:"mbpsBandwidth"`
	// ByteAvailSndBuf: room in the send buffer, bytes.
	ByteAvailSndBuf int64 `json:"byteAvailSndBuf"`
	// ByteAvailRcvBuf: room in the receive buffer, bytes.
	ByteAvailRcvBuf int64 `json:"byteAvailRcvBuf"`
	// MbpsMaxBW: upper limit of the send rate, megabits per second.
	MbpsMaxBW float64 `json:"mbpsMaxBW"`
	// ByteMSS: maximum segment size in use, bytes.
	ByteMSS int64 `json:"byteMSS"`
	// PktSndBuf: packets in the send buffer, not acknowledged.
	PktSndBuf int64 `json:"pktSndBuf"`
	// ByteSndBuf: bytes in the send buffer, headers included.
	ByteSndBuf int64 `json:"byteSndBuf"`
	// MsSndBuf: time the send buffer spans, milliseconds.
	MsSndBuf int64 `json:"msSndBuf"`
	// MsSndTsbPdDelay: latency of the peer's receiver, milliseconds.
	MsSndTsbPdDelay int64 `json:"msSndTsbPdDelay"`
	// PktRcvBuf: packets in the receive buffer, acknowledged and not read.
	PktRcvBuf int64 `json:"pktRcvBuf"`
	// ByteRcvBuf: bytes in the receive buffer.
	ByteRcvBuf int64 `json:"byteRcvBuf"`
	// MsRcvBuf: time the receive buffer spans, milliseconds.
	MsRcvBuf int64 `json:"msRcvBuf"`
	// MsRcvTsbPdDelay: latency of this side's receiver, milliseconds.
	MsRcvTsbPdDelay int64 `json:"msRcvTsbPdDelay"`

	// Packet filter, reorder tolerance and packets counted once. Names ending in
	// Total count since the connection began; their twins count the interval.

	// PktSndFilterExtraTotal: control packets the packet filter sent; always
	// 0 without a filter.
	PktSndFilterExtraTotal int64 `json:"pktSndFilterExtraTotal"`
	// PktRcvFilterExtraTotal: control packets the packet filter received.
	PktRcvFilterExtraTotal int64 `json:"pktRcvFilterExtraTotal"`
	// PktRcvFilterSupplyTotal: packets the packet filter rebuilt.
	PktRcvFilterSupplyTotal int64 `json:"pktRcvFilterSupplyTotal"`
	// PktRcvFilterLossTotal: packets the packet filter could not rebuild.
	PktRcvFilterLossTotal int64 `json:"pktRcvFilterLossTotal"`
	// PktSndFilterExtra: control packets the packet filter sent.
	PktSndFilterExtra int64 `json:"pktSndFilterExtra"`
	// PktRcvFilterExtra: control packets the packet filter received.
	PktRcvFilterExtra int64 `json:"pktRcvFilterExtra"`
	// PktRcvFilterSupply: packets the packet filter rebuilt.
	PktRcvFilterSupply int64 `json:"pktRcvFilterSupply"`
	// PktRcvFilterLoss: packets the packet filter could not rebuild.
	PktRcvFilterLoss int64 `json:"pktRcvFilterLoss"`
	// PktReorderTolerance: packets for which a gap is now taken for
	// reordering, see Config.LossMaxTTL.
	PktReorderTolerance int64 `json:"pktReorderTolerance"`
	// PktSentUniqueTotal: data packets sent for the first time.
	PktSentUniqueTotal int64 `json:"pktSentUniqueTotal"`
	// PktRecvUniqueTotal: data packets received for the first time.
	PktRecvUniqueTotal int64 `json:"pktRecvUniqueTotal"`
	// ByteSentUniqueTotal: bytes of PktSentUniqueTotal, headers included.
	ByteSentUniqueTotal int64 `json:"byteSentUniqueTotal"`
	// ByteRecvUniqueTotal: bytes of PktRecvUniqueTotal, headers included.
	ByteRecvUniqueTotal int64 `json:"byteRecvUniqueTotal"`
	// PktSentUnique: data packets sent for the first time.
	PktSentUnique int64 `json:"pktSentUnique"`
	// PktRecvUnique: data packets received for the first time.
	PktRecvUnique int64 `json:"pktRecvUnique"`
	// ByteSentUnique: bytes of PktSentUnique, headers included.
	ByteSentUnique int64 `json:"byteSentUnique"`
	// ByteRecvUnique: bytes of PktRecvUnique, headers included.
	ByteRecvUnique int64 `json:"byteRecvUnique"`

	// Beyond libsrt's list.

	// SndKMState: state of encryption in the sending direction, in the draft's
	// words: UNSECURED, SECURING, SECURED, NOSECRET or BADSECRET.
	SndKMState string `json:"sndKMState"`
	// RcvKMState: the same in the receiving direction.
	RcvKMState string `json:"rcvKMState"`
	// PBKeyLen: length of the AES key in use, bytes; 0: not encrypted.
	PBKeyLen int `json:"pbKeyLen"`
	// PeerVersion: SRT version of the peer, such as "1.5.5".
	PeerVersion string `json:"peerVersion"`
}
