package srtcore

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

const (
	maxInt32 = 1<<31 - 1
	dayMs    = 24 * 60 * 60 * 1000
	daySec   = dayMs / 1000
	maxRate  = 1_000_000_000_000 // bytes/s: far above any link, far below overflow

	hiddenSecret = "(hidden)"
)

// options is the one table of options: what a URL may say, what Validate
// allows, what docs/options.md lists. Rows without a field exist in URLs only.
// Rows are applied in this order, so latency comes before the two it sets.
var options = []option{
	{key: "mode", kind: kindText, allowed: "caller (client) or listener (server)", dflt: "caller with a host, listener without",
		doc: "Which side this is."},
	{key: "latency", kind: kindMs, ranges: latencyRange, srto: "SRTO_LATENCY", dflt: "120",
		doc: "Sets rcvlatency and peerlatency; either of them, given too, overrides it."},
	{field: "RcvLatency", key: "rcvlatency", srto: "SRTO_RCVLATENCY", kind: kindMs, ranges: latencyRange,
		doc: "Delay of this side's receiver; the larger of this and the peer's peerlatency counts.",
		ref: func(c *Config) any { return &c.RcvLatency }},
	{field: "PeerLatency", key: "peerlatency", srto: "SRTO_PEERLATENCY", kind: kindMs, ranges: latencyRange,
		doc: "Least delay this side asks the peer's receiver for.",
		ref: func(c *Config) any { return &c.PeerLatency }},
	{field: "StreamID", key: "streamid", aliases: []string{"srt_streamid"}, srto: "SRTO_STREAMID", kind: kindText, ranges: []span{{0, MaxStreamID}},
		doc: "What the caller wants of the listener; no zero byte inside.",
		ref: func(c *Config) any { return &c.StreamID }, check: checkStreamID},
	{field: "Passphrase", key: "passphrase", srto: "SRTO_PASSPHRASE", kind: kindSecret, ranges: []span{{0, 0}, {MinPassphrase, MaxPassphrase}},
		allowed: "10..80 bytes, or none for no encryption",
		doc:     "Secret both sides share; none: no encryption. Never printed.",
		ref:     func(c *Config) any { return &c.Passphrase }, check: checkPassphrase},
	{field: "PBKeyLen", key: "pbkeylen", srto: "SRTO_PBKEYLEN", kind: kindBytes, ranges: only(0, 16, 24, 32),
		doc: "Length of the AES key; 0: what the other side wants, else 16.",
		ref: func(c *Config) any { return &c.PBKeyLen }},
	{field: "EnforcedEncryption", key: "enforcedencryption", aliases: []string{"enforced_encryption"}, srto: "SRTO_ENFORCEDENCRYPTION", kind: kindBool,
		doc: "Refuse a connection unless both sides have the same passphrase, or none.",
		ref: func(c *Config) any { return &c.EnforcedEncryption }},
	{field: "KMRefreshRate", key: "kmrefreshrate", srto: "SRTO_KMREFRESHRATE", kind: kindPackets, ranges: []span{{0, 0}, {3, maxInt32}},
		doc: "After how many packets the key changes; 0: the default.",
		ref: func(c *Config) any { return &c.KMRefreshRate }},
	{field: "KMPreAnnounce", key: "kmpreannounce", srto: "SRTO_KMPREANNOUNCE", kind: kindPackets, ranges: []span{{0, maxInt32}},
		allowed: "0..(kmrefreshrate-1)/2 packets",
		doc:     "How many packets before a change the new key is sent; 0: the default, lowered to fit a small kmrefreshrate.",
		ref:     func(c *Config) any { return &c.KMPreAnnounce }, check: checkPreAnnounce},
	{field: "ConnTimeout", key: "conntimeo", aliases: []string{"connect_timeout"}, srto: "SRTO_CONNTIMEO", kind: kindMs, ranges: []span{{1, dayMs}},
		doc: "How long a caller tries to connect.",
		ref: func(c *Config) any { return &c.ConnTimeout }},
	{field: "PeerIdleTimeout", key: "peeridletimeo", srto: "SRTO_PEERIDLETIMEO", kind: kindMs, ranges: []span{{1, dayMs}},
		doc: "A peer silent for so long is gone.",
		ref: func(c *Config) any { return &c.PeerIdleTimeout }},
	{field: "Linger", key: "linger", srto: "SRTO_LINGER", kind: kindSec, ranges: []span{{0, daySec}},
		doc: "How long closing waits beyond latency and round trip. libsrt has it off in live mode and loses the tail.",
		ref: func(c *Config) any { return &c.Linger }},
	{field: "SndDropDelay", key: "snddropdelay", srto: "SRTO_SNDDROPDELAY", kind: kindMs, ranges: []span{{-dayMs, dayMs}},
		allowed: "-1 (never drop) or 0..86400000 ms",
		doc:     "Added to the peer's latency before the sender drops what is too late; negative: it never drops.",
		ref:     func(c *Config) any { return &c.SndDropDelay }},
	{field: "MSS", key: "mss", srto: "SRTO_MSS", kind: kindBytes, ranges: []span{{minMSS, MaxMSS}},
		doc: "Largest UDP packet, with 28 bytes of IP and UDP header; the smaller of both sides counts.",
		ref: func(c *Config) any { return &c.MSS }},
	{field: "FC", key: "fc", aliases: []string{"ffs"}, srto: "SRTO_FC", kind: kindPackets, ranges: []span{{minBufferPackets, 1_000_000}},
		doc: "Flow window: packets under way, unacknowledged.",
		ref: func(c *Config) any { return &c.FC }},
	{field: "RcvBuf", key: "rcvbuf", srto: "SRTO_RCVBUF", kind: kindBytes, ranges: []span{{1, maxInt32}},
		doc: "Receive buffer, in whole packets of mss-28; at least 32 and at most fc packets are used.",
		ref: func(c *Config) any { return &c.RcvBuf }},
	{field: "SndBuf", key: "sndbuf", srto: "SRTO_SNDBUF", kind: kindBytes, ranges: []span{{1, maxInt32}},
		doc: "Send buffer, in whole packets of mss-28; at least 32 packets are used.",
		ref: func(c *Config) any { return &c.SndBuf }},
	{field: "UDPRcvBuf", key: "udp_rcvbuf", aliases: []string{"recv_buffer_size"}, srto: "SRTO_UDP_RCVBUF", kind: kindBytes, ranges: []span{{0, maxInt32}},
		doc: "Receive buffer of the UDP socket; 0: the system's default.",
		ref: func(c *Config) any { return &c.UDPRcvBuf }},
	{field: "UDPSndBuf", key: "udp_sndbuf", aliases: []string{"send_buffer_size"}, srto: "SRTO_UDP_SNDBUF", kind: kindBytes, ranges: []span{{0, maxInt32}},
		doc: "Send buffer of the UDP socket, which many connections share; 0: the system's default. libsrt: 65536.",
		ref: func(c *Config) any { return &c.UDPSndBuf }},
	{field: "PayloadSize", key: "payloadsize", aliases: []string{"pkt_size", "payload_size"}, srto: "SRTO_PAYLOADSIZE", kind: kindBytes, ranges: []span{{0, MaxMSS - udpOverhead - headerSize}},
		doc: "Longest message sent; 0: what fits (mss-44). The default is lowered to fit a small mss. Receiving is not limited by it.",
		ref: func(c *Config) any { return &c.PayloadSize }, check: checkPayloadSize},
	{field: "MaxBW", key: "maxbw", srto: "SRTO_MAXBW", kind: kindRate, ranges: []span{{-1, -1}, {0, maxRate}},
		doc: "Limit of sending; -1: none (1 Gbit/s), 0: by the input rate.",
		ref: func(c *Config) any { return &c.MaxBW }},
	{field: "InputBW", key: "inputbw", srto: "SRTO_INPUTBW", kind: kindRate, ranges: []span{{0, maxRate}},
		doc: "Rate of the input if maxbw is 0; 0: measured.",
		ref: func(c *Config) any { return &c.InputBW }},
	{field: "MinInputBW", key: "mininputbw", srto: "SRTO_MININPUTBW", kind: kindRate, ranges: []span{{0, maxRate}},
		doc: "Least rate assumed if the input rate is measured.",
		ref: func(c *Config) any { return &c.MinInputBW }},
	{field: "OverheadBW", key: "oheadbw", srto: "SRTO_OHEADBW", kind: kindPercent, ranges: []span{{5, 100}},
		doc: "What retransmission may add to the input rate.",
		ref: func(c *Config) any { return &c.OverheadBW }},
	{field: "LossMaxTTL", key: "lossmaxttl", srto: "SRTO_LOSSMAXTTL", kind: kindPackets, ranges: []span{{0, maxInt32}},
		doc: "For how many packets a gap may be mere reordering; 0: it is loss at once.",
		ref: func(c *Config) any { return &c.LossMaxTTL }},
	{field: "TLPktDrop", key: "tlpktdrop", srto: "SRTO_TLPKTDROP", kind: kindBool,
		doc: "Skip packets that are too late.",
		ref: func(c *Config) any { return &c.TLPktDrop }},
	{field: "NAKReport", key: "nakreport", srto: "SRTO_NAKREPORT", kind: kindBool,
		doc: "Repeat loss reports until the loss is repaired.",
		ref: func(c *Config) any { return &c.NAKReport }},
	{field: "TSBPDMode", key: "tsbpdmode", aliases: []string{"tsbpd"}, srto: "SRTO_TSBPDMODE", kind: kindBool,
		doc: "Deliver at the time stamp plus latency; off: as soon as in order.",
		ref: func(c *Config) any { return &c.TSBPDMode }},
	{field: "PlayGrid", key: "playgrid", kind: kindMs, ranges: []span{{0, 1000}},
		doc: "Deliver in groups, this far apart, what is due before the next one: up to so much early, never late; 0: each message at its time.",
		ref: func(c *Config) any { return &c.PlayGrid }},
	{field: "DriftTracer", key: "drifttracer", srto: "SRTO_DRIFTTRACER", kind: kindBool,
		doc: "Follow the difference in speed of the two clocks.",
		ref: func(c *Config) any { return &c.DriftTracer }},
	{field: "RetransmitAlgo", key: "retransmitalgo", srto: "SRTO_RETRANSMITALGO", kind: kindInt, ranges: []span{{0, 1}},
		doc: "When a packet is retransmitted: 1, at most once a round trip; 0, at every report.",
		ref: func(c *Config) any { return &c.RetransmitAlgo }},
	{field: "MinVersion", key: "minversion", srto: "SRTO_MINVERSION", kind: kindVersion, ranges: []span{{0, 0xFFFFFF}},
		allowed: "0.0.0..255.255.255, or the same as a number",
		doc:     "Oldest peer accepted.",
		ref:     func(c *Config) any { return &c.MinVersion }},
	{field: "IPTTL", key: "ipttl", srto: "SRTO_IPTTL", kind: kindInt, ranges: []span{{-1, -1}, {1, 255}},
		doc: "Time to live of sent packets; -1: the system's default.",
		ref: func(c *Config) any { return &c.IPTTL }},
	{field: "IPTOS", key: "iptos", srto: "SRTO_IPTOS", kind: kindInt, ranges: []span{{-1, 255}},
		allowed: "-1 or 0..255",
		doc:     "Type of service of sent packets; -1: the system's default.",
		ref:     func(c *Config) any { return &c.IPTOS }},
	{field: "IPv6Only", key: "ipv6only", srto: "SRTO_IPV6ONLY", kind: kindTriBool, ranges: []span{{-1, 1}},
		doc: "Whether a socket bound to [::] refuses IPv4; -1: the system's default.",
		ref: func(c *Config) any { return &c.IPv6Only }},
	{field: "BindToDevice", key: "bindtodevice", srto: "SRTO_BINDTODEVICE", kind: kindText, ranges: []span{{0, 15}},
		doc: "Network interface to use (Linux only); no zero byte and no slash inside.",
		ref: func(c *Config) any { return &c.BindToDevice }, check: checkDevice},
	{field: "TraceRecords", key: "tracerecords", kind: kindInt, ranges: []span{{0, 65536}},
		doc: "Bound of the flight recorder, records of 32 bytes; 0: none.",
		ref: func(c *Config) any { return &c.TraceRecords }},
	{field: "LocalAddr", key: "bind", kind: kindText, ranges: []span{{0, 300}},
		allowed: "ADDRESS:PORT, ADDRESS or :PORT",
		doc:     "Local address of a caller, or the listening address; the same as adapter and port together.",
		ref:     func(c *Config) any { return &c.LocalAddr }, check: checkLocalAddr},
	{field: "Backlog", key: "backlog", kind: kindInt, ranges: []span{{1, 65535}},
		doc: "How many callers may wait for Accept; more are refused.",
		ref: func(c *Config) any { return &c.Backlog }},
	{key: "adapter", kind: kindText, allowed: "a local address", dflt: "any",
		doc: "Local address to bind."},
	{key: "port", kind: kindInt, allowed: "0..65535", dflt: "0",
		doc: "Local port of a caller; 0: any free one."},
	{key: "timeout", kind: kindMs, ranges: []span{{-1, dayMs}}, dflt: "-1",
		doc: "Limit for one read or write, left to the application as Target.Timeout; -1 or 0: none."},
	{key: "transtype", srto: "SRTO_TRANSTYPE", kind: kindText, allowed: "live", dflt: "live",
		doc: "Only live is supported."},
	{key: "congestion", aliases: []string{"smoother"}, srto: "SRTO_CONGESTION", kind: kindText, allowed: "live", dflt: "live",
		doc: "Only live is supported."},
	{key: "messageapi", srto: "SRTO_MESSAGEAPI", kind: kindBool, allowed: "true", dflt: "true",
		doc: "Only true is supported."},
	{key: "blocking", kind: kindBool, dflt: "true",
		doc: "Accepted and ignored: Read and Write block up to their deadline, other calls do not."},
	{field: "OnRequest", kind: kindGo, dflt: "none",
		doc: "Called for every caller; accepts or refuses it.",
		ref: func(c *Config) any { return &c.OnRequest }},
	{field: "Runtime", kind: kindGo, dflt: "the shared one",
		doc: "Whose goroutines and sockets serve the connection.",
		ref: func(c *Config) any { return &c.Runtime }},
}

var latencyRange = []span{{0, MaxLatency.Milliseconds()}}

// notYet are keys that other tools know and this package does not serve yet.
var notYet = []string{
	"packetfilter", "groupconnect", "grouptype", "groupminstabletimeo",
	"cryptomode", "maxrexmitbw",
}

// Validate looks at every option, alone and with the others. The error is an
// *OptionError that names the option as in a URL.
func (c *Config) Validate() error {
	for i := range options {
		o := &options[i]
		if o.ref == nil {
			continue
		}
		if err := o.inRange(c, o.key); err != nil {
			return err
		}
		if err := o.checked(c); err != nil {
			return err
		}
	}
	return nil
}

func (o *option) checked(c *Config) error {
	if o.check == nil {
		return nil
	}
	problem, allowed := o.check(c)
	if problem == "" {
		return nil
	}
	err := &OptionError{Option: o.key, Problem: problem, Allowed: allowed}
	if !o.kind.isText() {
		err.Value = o.value(c)
	}
	return err
}

func checkStreamID(c *Config) (problem, allowed string) {
	if strings.IndexByte(c.StreamID, 0) >= 0 {
		// The wire pads with zeros (draft section 3.2.1.3): a zero byte at the end
		// would vanish.
		return "holds a zero byte", "any other byte"
	}
	return "", ""
}

func checkPassphrase(c *Config) (problem, allowed string) {
	if c.Passphrase == hiddenSecret {
		return "was hidden when the URL was printed", "the passphrase itself"
	}
	return "", ""
}

// checkPreAnnounce lets the default pass: effectivePreAnnounce lowers it.
func checkPreAnnounce(c *Config) (problem, allowed string) {
	most := (c.effectiveRefreshRate() - 1) / 2
	if c.KMPreAnnounce <= most || c.KMPreAnnounce == defaultKMPreAnnounce {
		return "", ""
	}
	return "does not fit the kmrefreshrate of " + strconv.Itoa(c.effectiveRefreshRate()),
		fmt.Sprintf("0..%d packets", most)
}

// checkPayloadSize lets the default pass: effectivePayloadSize lowers it.
func checkPayloadSize(c *Config) (problem, allowed string) {
	most := c.MSS - udpOverhead - headerSize
	if c.PayloadSize <= most || c.PayloadSize == defaultPayloadSize {
		return "", ""
	}
	return "does not fit the mss of " + strconv.Itoa(c.MSS), fmt.Sprintf("0..%d bytes", most)
}

func checkDevice(c *Config) (problem, allowed string) {
	if strings.ContainsAny(c.BindToDevice, "\x00/") {
		return "is not the name of a network interface", "1..15 bytes without zero bytes and slashes"
	}
	return "", ""
}

func checkLocalAddr(c *Config) (problem, allowed string) {
	if c.LocalAddr == "" {
		return "", ""
	}
	_, port, err := net.SplitHostPort(c.LocalAddr)
	if err != nil || !isPort(port) {
		return "is not an address", "ADDRESS:PORT or :PORT, the port 0..65535"
	}
	return "", ""
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n <= 65535 && allDigits(s)
}
