package props

import "math"

// optionRows are the options that only a URI sets. Their values go to srtcore as
// they are written, so ranges, units and suffixes are srtcore's; an option that
// srtcore gains works before it has a row here. The rows are for documentation.
func optionRows() []Spec {
	const i32 = math.MaxInt32
	number := func(key string, dflt, lo, hi int64, doc string) Spec {
		return Spec{Name: key, Keys: []string{key}, Kind: Int, Default: dflt, Min: lo, Max: hi, On: Both, Doc: doc}
	}
	big := func(key string, dflt, lo int64, doc string) Spec {
		return Spec{Name: key, Keys: []string{key}, Kind: Int64, Default: dflt, Min: lo, Max: 1_000_000_000_000, On: Both, Doc: doc}
	}
	truth := func(key string, dflt int64, doc string) Spec {
		return Spec{Name: key, Keys: []string{key}, Kind: Bool, Default: dflt, Max: 1, On: Both, Doc: doc}
	}
	text := func(key, dflt, doc string) Spec {
		return Spec{Name: key, Keys: []string{key}, Kind: String, DefaultText: dflt, On: Both, Doc: doc}
	}
	return []Spec{
		number("rcvlatency", defaultLatency, 0, 65535, "Delay of this side's receiver (milliseconds); overrides latency"),
		number("peerlatency", defaultLatency, 0, 65535, "Least delay asked of the peer's receiver (milliseconds); overrides latency"),
		number("mss", 1500, 76, 1500, "Largest UDP packet with 28 bytes of headers (bytes)"),
		number("payloadsize", 1316, 0, 1456, "Longest packet sent (bytes); longer buffers are split. 0: what fits"),
		number("fc", 25600, 32, 1_000_000, "Flow window (packets)"),
		number("sndbuf", 12058624, 1, i32, "Send buffer (bytes)"),
		number("rcvbuf", 12058624, 1, i32, "Receive buffer (bytes)"),
		number("udp_sndbuf", 1048576, 0, i32, "Send buffer of the UDP socket (bytes); 0: the system's default"),
		number("udp_rcvbuf", 12288000, 0, i32, "Receive buffer of the UDP socket (bytes); 0: the system's default"),
		big("maxbw", -1, -1, "Limit of sending (bytes/s); -1: none, 0: by the input rate"),
		big("inputbw", 0, 0, "Rate of the input if maxbw is 0 (bytes/s); 0: measured"),
		big("mininputbw", 0, 0, "Least rate assumed if the input rate is measured (bytes/s)"),
		number("oheadbw", 25, 5, 100, "What retransmission may add to the input rate (percent)"),
		number("lossmaxttl", 0, 0, i32, "For how many packets a gap may be mere reordering"),
		number("snddropdelay", 0, -1, 86400000, "Added to the latency before the sender drops what is too late (milliseconds); -1: never drops"),
		number("conntimeo", 3000, 1, 86400000, "How long one attempt to connect takes (milliseconds)"),
		number("peeridletimeo", 5000, 1, 86400000, "A peer silent for so long is gone (milliseconds)"),
		number("kmrefreshrate", 1<<24, 0, i32, "After how many packets the key changes"),
		number("kmpreannounce", 4096, 0, i32, "How many packets before a change the new key is sent"),
		truth("enforcedencryption", 1, "Refuse a peer that has not the same passphrase"),
		number("minversion", 0x010000, 0, 0xFFFFFF, "Oldest SRT version of the peer (0xMMmmpp or 1.2.3)"),
		truth("tsbpdmode", 1, "Deliver at the time of sending plus the latency"),
		truth("tlpktdrop", 1, "Skip packets that are too late"),
		truth("nakreport", 1, "Repeat loss reports until the loss is repaired"),
		number(PlayGrid, 0, 0, 1000, "Source: packets come in groups, so far apart (milliseconds), that much early at most and never late; default a sixth of the latency, at most 20; 0: each at its time"),
		truth("drifttracer", 1, "Follow the difference in speed of the two clocks"),
		number("retransmitalgo", 1, 0, 1, "When a packet is retransmitted: 1, once a round trip; 0, at every report"),
		number("ipttl", -1, -1, 255, "Time to live of sent packets; -1: the system's default"),
		number("iptos", -1, -1, 255, "Type of service of sent packets; -1: the system's default"),
		number("ipv6only", -1, -1, 1, "Whether a socket bound to [::] refuses IPv4; -1: the system's default"),
		text("bindtodevice", "", "Network interface to use"),
		number("backlog", 128, 1, 65535, "Callers that may wait to be accepted"),
		text("transtype", "live", "Only live (or 0) is served"),
		text("congestion", "live", "Only live is served"),
		truth("messageapi", 1, "Only true is served"),
		text("packetfilter", "", "Not served yet"),
	}
}
