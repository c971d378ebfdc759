package srtcore

import "time"

// Limits of the protocol and of this implementation.
const (
	// MaxStreamID is the longest stream id, bytes.
	MaxStreamID = 512
	// MinPassphrase and MaxPassphrase bound the passphrase, bytes. The SRT
	// documents say 79 at most; libsrt takes 80, and so do we.
	MinPassphrase = 10
	MaxPassphrase = 80
	// MaxMSS is the largest maximum segment size: what Ethernet carries.
	MaxMSS = 1500
	minMSS = 76
	// MaxLatency is the longest latency: the handshake carries 16 bits of
	// milliseconds (draft section 3.2.1.1.1).
	MaxLatency = 65535 * time.Millisecond

	udpOverhead = 28 // bytes of IPv4 and UDP header, counted in the MSS
	headerSize  = 16 // bytes of SRT header

	defaultPayloadSize   = 1316 // seven MPEG-TS packets
	defaultKMRefreshRate = 1 << 24
	defaultKMPreAnnounce = 1 << 12
	minBufferPackets     = 32
)

// Config holds the options of a connection or a listener. Start from
// DefaultConfig and change what you need: a zero Config is not valid. Each field
// is named after its libsrt option; the comment gives that name, the unit, the
// range and the default. The same options can be given in a URL, see ParseURL
// and docs/options.md.
//
// A Config is read once, by Dial or Listen; changing it later has no effect.
type Config struct {
	// RcvLatency is the delay of this side's receiver: the time within which a
	// lost packet can be repaired. The connection uses the larger of this and the
	// peer's PeerLatency. SRTO_RCVLATENCY, ms, 0..65535, default 120.
	RcvLatency time.Duration
	// PeerLatency is the least delay this side asks the peer's receiver for.
	// SRTO_PEERLATENCY, ms, 0..65535, default 0.
	PeerLatency time.Duration

	// StreamID tells a listener what the caller wants; see ParseStreamID.
	// SRTO_STREAMID, text of at most 512 bytes without a zero byte, default empty.
	StreamID string
	// Passphrase encrypts the connection; both sides need the same. Empty: no
	// encryption. It is never printed.
	// SRTO_PASSPHRASE, 10..80 bytes (79 in the SRT documents), default empty.
	Passphrase string `json:"-"`
	// PBKeyLen is the length of the AES key. 0: what the other side wants, 16 if
	// neither says. SRTO_PBKEYLEN, bytes, 0, 16, 24 or 32, default 0.
	PBKeyLen int
	// EnforcedEncryption refuses a connection unless both sides have the same
	// passphrase or none. SRTO_ENFORCEDENCRYPTION, bool, default true.
	EnforcedEncryption bool
	// KMRefreshRate is after how many packets the key changes; 0 is the default.
	// SRTO_KMREFRESHRATE, packets, 0 or 3..2147483647, default 16777216.
	KMRefreshRate int
	// KMPreAnnounce is how many packets before a change the new key is sent; 0 is
	// the default. The default is lowered to fit a small KMRefreshRate; any other
	// value that does not fit is refused.
	// SRTO_KMPREANNOUNCE, packets, 0..(KMRefreshRate-1)/2, default 4096.
	KMPreAnnounce int

	// ConnTimeout bounds Dial. SRTO_CONNTIMEO, ms, 1..86400000, default 3000.
	ConnTimeout time.Duration
	// PeerIdleTimeout ends a connection whose peer is silent for so long.
	// SRTO_PEERIDLETIMEO, ms, 1..86400000, default 5000.
	PeerIdleTimeout time.Duration
	// Linger bounds Close: how long, beyond the latency and the round trip, it
	// waits for what was written to be acknowledged and played. libsrt has this
	// off in live mode and then loses the last latency's worth of media on every
	// close; here Close delivers what Write took. 0: no longer than latency and
	// round trip; to end without waiting, use Conn.Abort.
	// SRTO_LINGER, s, 0..86400, default 1.
	Linger time.Duration
	// SndDropDelay is added to the peer's latency before this side's sender drops
	// messages that are too late. Negative: the sender never drops.
	// SRTO_SNDDROPDELAY, ms, -1 or 0..86400000, default 0.
	SndDropDelay time.Duration

	// MSS is the largest UDP packet, with 28 bytes for the IP and UDP headers.
	// The connection uses the smaller of both sides' values.
	// SRTO_MSS, bytes, 76..1500, default 1500.
	MSS int
	// FC is the flow window: how many packets may be under way unacknowledged.
	// SRTO_FC, packets, 32..1000000, default 25600.
	FC int
	// RcvBuf is the receiver's buffer, rounded down to packets of MSS-28 bytes; at
	// least 32 packets, at most FC are used.
	// SRTO_RCVBUF, bytes, 1..2147483647, default 12058624 (8192 packets).
	RcvBuf int
	// SndBuf is the sender's buffer, rounded down to packets of MSS-28 bytes; at
	// least 32 packets are used.
	// SRTO_SNDBUF, bytes, 1..2147483647, default 12058624 (8192 packets).
	SndBuf int
	// UDPRcvBuf is the receive buffer asked of the system for the UDP socket. 0:
	// the system's default. SRTO_UDP_RCVBUF, bytes, 0..2147483647, default
	// 12288000.
	UDPRcvBuf int
	// UDPSndBuf is the send buffer asked of the system for the UDP socket. 0: the
	// system's default. libsrt's default is 65536; here one socket serves many
	// connections. SRTO_UDP_SNDBUF, bytes, 0..2147483647, default 1048576.
	UDPSndBuf int
	// PayloadSize is the longest message this side sends. 0: what fits, MSS-44
	// (1456). A receiver takes any size whatever is set here. The default is
	// lowered to fit a small MSS; any other value that does not fit is refused.
	// SRTO_PAYLOADSIZE, bytes, 0..MSS-44, default 1316.
	PayloadSize int

	// MaxBW limits sending. -1: no limit (1 Gbit/s); 0: by the input rate, see
	// InputBW. SRTO_MAXBW, bytes/s, -1 or 0..1000000000000, default -1.
	MaxBW int64
	// InputBW is the rate of the input, used when MaxBW is 0; the limit is then
	// InputBW*(100+OverheadBW)/100. 0: measured.
	// SRTO_INPUTBW, bytes/s, 0..1000000000000, default 0.
	InputBW int64
	// MinInputBW is the least input rate assumed when it is measured.
	// SRTO_MININPUTBW, bytes/s, 0..1000000000000, default 0.
	MinInputBW int64
	// OverheadBW is what retransmission may add to the input rate.
	// SRTO_OHEADBW, percent, 5..100, default 25.
	OverheadBW int
	// LossMaxTTL is for how many packets a gap may be mere reordering before it is
	// reported as loss. 0: report at once.
	// SRTO_LOSSMAXTTL, packets, 0..2147483647, default 0.
	LossMaxTTL int

	// TLPktDrop lets the receiver skip packets that are too late, and tells the
	// peer's sender that it may drop them. SRTO_TLPKTDROP, bool, default true.
	TLPktDrop bool
	// NAKReport repeats loss reports periodically until the loss is repaired.
	// SRTO_NAKREPORT, bool, default true.
	NAKReport bool
	// TSBPDMode delivers messages at their time stamps plus the latency. Off:
	// as soon as they are in order. SRTO_TSBPDMODE, bool, default true.
	TSBPDMode bool
	// PlayGrid hands messages over in groups: at multiples of PlayGrid of the
	// runtime's clock, those whose play time comes before the next multiple. So
	// none is later than without, each up to PlayGrid earlier, and a reader - all
	// readers of a runtime at once - is woken once a group instead of once a
	// message: for readers who go by ReceiveInfo.Source, not by when a message
	// comes. A gap is given up no earlier than without. 0: each at its play time.
	// No libsrt option, ms, 0..1000, default 0.
	PlayGrid time.Duration
	// DriftTracer follows the difference in speed of the two clocks.
	// SRTO_DRIFTTRACER, bool, default true.
	DriftTracer bool
	// RetransmitAlgo chooses when a packet is retransmitted: 1, at most once a
	// round trip; 0, at every report. SRTO_RETRANSMITALGO, 0..1, default 1.
	RetransmitAlgo int
	// MinVersion is the oldest peer accepted, 0x00MMmmpp. 0: any.
	// SRTO_MINVERSION, version, 0.0.0..255.255.255, default 1.0.0.
	MinVersion uint32

	// IPTTL is the time to live of sent packets. -1: the system's default.
	// SRTO_IPTTL, -1 or 1..255, default -1.
	IPTTL int
	// IPTOS is the type of service of sent packets. -1: the system's default.
	// SRTO_IPTOS, -1 or 0..255, default -1.
	IPTOS int
	// IPv6Only says whether a socket bound to [::] refuses IPv4. -1: the system's
	// default. SRTO_IPV6ONLY, -1, 0 or 1, default -1.
	IPv6Only int
	// BindToDevice is the network interface to use (Linux only).
	// SRTO_BINDTODEVICE, name of at most 15 bytes, default empty (any).
	BindToDevice string

	// TraceRecords bounds the connection's flight recorder, see Conn.Trace: how many
	// records of what happened lately are kept, 32 bytes each, and no longer than 30
	// seconds as far as memory is needed for newer ones. An undisturbed stream fills
	// no more than half of it in that time, whatever its rate: the fewer records, the
	// fewer acknowledgements are among them. 4096, the daemon's, hold at most 128 KiB
	// of memory, and 40 to 64 KiB as long as nothing goes wrong. 0: none.
	// No libsrt option, number, 0..65536, default 0.
	TraceRecords int

	// LocalAddr is the local address a caller binds to, "host:port", "host:0" or
	// ":port". Empty: any. In a URL it is made of adapter and port, or is bind.
	LocalAddr string
	// Backlog is how many callers may wait for Accept; more are refused. libsrt
	// takes it as an argument of srt_listen, where 5 is common.
	// Connections, 1..65535, default 128.
	Backlog int

	// OnRequest, if set, is asked about every caller before it is accepted. It
	// sees the stream id and the address, and may set the passphrase for this
	// caller. nil accepts; a *RejectError refuses with its Reason; any other error
	// refuses with code 2000. It runs outside the loop and may take its time, but
	// the caller gives up after its connect timeout.
	OnRequest func(*ConnRequest) error `json:"-"`

	// Runtime is whose goroutines and sockets serve the connection. nil: the
	// shared default.
	Runtime *Runtime `json:"-"`
}

// DefaultConfig returns libsrt's defaults for live mode, save for Linger,
// UDPSndBuf and Backlog, where the field's comment says why.
func DefaultConfig() Config {
	const bufferBytes = 8192 * (MaxMSS - udpOverhead)
	return Config{
		RcvLatency:         120 * time.Millisecond,
		EnforcedEncryption: true,
		KMRefreshRate:      defaultKMRefreshRate,
		KMPreAnnounce:      defaultKMPreAnnounce,
		ConnTimeout:        3 * time.Second,
		PeerIdleTimeout:    5 * time.Second,
		Linger:             time.Second,
		MSS:                MaxMSS,
		FC:                 25600,
		RcvBuf:             bufferBytes,
		SndBuf:             bufferBytes,
		UDPRcvBuf:          8192 * MaxMSS,
		UDPSndBuf:          1 << 20,
		PayloadSize:        defaultPayloadSize,
		MaxBW:              -1,
		OverheadBW:         25,
		TLPktDrop:          true,
		NAKReport:          true,
		TSBPDMode:          true,
		DriftTracer:        true,
		RetransmitAlgo:     1,
		MinVersion:         0x010000,
		IPTTL:              -1,
		IPTOS:              -1,
		IPv6Only:           -1,
		Backlog:            128,
	}
}
