package execwrap

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// setting is one option as FFmpeg was given it.
type setting struct{ name, value string }

// kind is how FFmpeg reads an option's value and what it becomes.
type kind int

const (
	text   kind = iota
	number      // negative: not set
	delay       // microseconds, for us whole milliseconds; negative: not set
	drop        // as delay, but -1 is a value
	wait        // milliseconds; negative: not set
	truth       // auto: not set
	size        // a number of bytes, with two names
)

// option is one of FFmpeg's options of its SRT protocol.
type option struct {
	ours string // the key in our addresses; empty: no option of the connection
	kind kind
}

// srtOptions are FFmpeg's names, of options and of keys in an address.
var srtOptions = map[string]option{
	"mode":     {"mode", text},
	"latency":  {"latency", delay},
	"streamid": {"streamid", text}, "srt_streamid": {"streamid", text},
	"passphrase": {"passphrase", text}, "pbkeylen": {"pbkeylen", number},
	"enforced_encryption": {"enforcedencryption", truth},
	"kmrefreshrate":       {"kmrefreshrate", number}, "kmpreannounce": {"kmpreannounce", number},
	"tsbpddelay": {"latency", delay},
	"rcvlatency": {"rcvlatency", delay}, "peerlatency": {"peerlatency", delay},
	"snddropdelay":    {"snddropdelay", drop},
	"connect_timeout": {"conntimeo", wait}, "listen_timeout": {"listen_timeout", delay},
	"timeout":  {"", text},
	"linger":   {"linger", number},
	"pkt_size": {"payloadsize", size}, "payload_size": {"payloadsize", size},
	"maxbw": {"maxbw", number}, "inputbw": {"inputbw", number}, "oheadbw": {"oheadbw", number},
	"mss": {"mss", number}, "ffs": {"fc", number}, "sndbuf": {"sndbuf", number}, "rcvbuf": {"rcvbuf", number},
	"send_buffer_size": {"udp_sndbuf", number}, "recv_buffer_size": {"udp_rcvbuf", number},
	"ipttl": {"ipttl", number}, "iptos": {"iptos", number}, "ipv6only": {"ipv6only", truth},
	"lossmaxttl": {"lossmaxttl", number}, "minversion": {"minversion", text},
	"tlpktdrop": {"tlpktdrop", truth}, "nakreport": {"nakreport", truth}, "tsbpd": {"tsbpdmode", truth},
	"messageapi": {"messageapi", truth}, "transtype": {"transtype", text}, "smoother": {"congestion", text},
}

// foreignKeys are keys that FFmpeg knows in the addresses of UDP and TCP, and
// ignores in those of SRT. They get there by copying.
var foreignKeys = flagSet(`bitrate block broadcast buffer_size burst_bits connect dscp fifo_size listen local_port
	localaddr localport overrun_nonfatal reuse reuse_socket rw_timeout sources tcp_mss tcp_nodelay ttl
	udplite_coverage`)

// isOption reports whether arg is one of these in a command line. -streamid is
// not always: see takeStreamID.
func isOption(arg string) bool {
	_, ok := srtOptions[strings.TrimPrefix(arg, "-")]
	return ok && strings.HasPrefix(arg, "-")
}

// convert returns the value in our units; ok: the option is set at all.
func (w *rewriter) convert(s setting, of string) (value string, ok bool, err error) {
	o := srtOptions[s.name]
	switch o.kind {
	case number, wait:
		n, err := parseNumber(s.value)
		return strconv.FormatInt(n, 10), n >= 0, s.wrap(err, of)
	case size:
		n, err := parseNumber(packetSizes(s.value))
		return strconv.FormatInt(n, 10), n >= 0, s.wrap(err, of)
	case truth:
		value, ok, err := parseTruth(s.value)
		return value, ok, s.wrap(err, of)
	case delay, drop:
		return w.convertDelay(s, o.kind, of)
	}
	if o.ours == "mode" && s.value == "rendezvous" {
		return "", false, fmt.Errorf("mode=rendezvous in the address of %s is refused: weirline has no rendezvous mode yet; let one side be mode=listener and the other mode=caller, or run the program without weirline exec", of)
	}
	return s.value, s.value != "", nil
}

func (s setting) wrap(err error, of string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("option %s of %s: %w", s.name, of, err)
}

// convertDelay takes FFmpeg's microseconds, or a number with a unit, and leaves
// out the part of a millisecond, as FFmpeg does.
func (w *rewriter) convertDelay(s setting, k kind, of string) (string, bool, error) {
	d, bare, err := parseDelay(s.value)
	if err != nil {
		return "", false, s.wrap(err, of)
	}
	if d < 0 {
		return "-1", k == drop && d == -time.Microsecond, nil
	}
	if ms := d.Milliseconds(); s.name != "snddropdelay" && s.name != "listen_timeout" {
		switch {
		case bare && d > 0 && d < 20*time.Millisecond:
			n := int64(d / time.Microsecond)
			w.note("%s=%s of %s is %d ms: FFmpeg counts in microseconds; for %d ms write %s=%d or %s=%dms", s.name, s.value, of, ms, n, s.name, n*1000, s.name, n)
		case d > 0 && d < 20*time.Millisecond:
			w.note("%s=%s of %s is %d ms, which leaves hardly any time to repair losses", s.name, s.value, of, ms)
		case d > 10*time.Minute:
			w.note("%s=%s of %s is %v: FFmpeg counts in microseconds", s.name, s.value, of, d)
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms", true, nil
}

// parseDelay reads microseconds, or a time with a unit of its own.
func parseDelay(v string) (d time.Duration, bare bool, err error) {
	if n, err := parseNumber(v); err == nil {
		if n > int64(time.Hour*24/time.Microsecond) {
			return 0, true, fmt.Errorf("%q is longer than a day: FFmpeg counts in microseconds", v)
		}
		return time.Duration(max(n, -2)) * time.Microsecond, true, nil
	}
	if d, err := time.ParseDuration(v); err == nil && d >= 0 && d <= 24*time.Hour {
		return d, false, nil
	}
	return 0, false, fmt.Errorf("%q is not a time: allowed microseconds as in 200000, or a unit as in 200ms", v)
}

// microseconds writes a time as FFmpeg wants it; empty: none.
func microseconds(v string) (string, error) {
	d, _, err := parseDelay(v)
	if err != nil || d < 0 {
		return "", err
	}
	return strconv.FormatInt(d.Microseconds(), 10), nil
}

// multiples are the suffixes of FFmpeg's numbers.
var multiples = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

// parseNumber reads 1316, -1, 0x010300, 1.5M, 64Ki.
func parseNumber(v string) (int64, error) {
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseInt(v, 0, 64); err == nil && strings.Contains(v, "x") {
		return n, nil
	}
	digits := strings.TrimRight(v, "kKMGi")
	f, err := strconv.ParseFloat(digits, 64)
	m, ok := multiples[v[len(digits):]]
	if err != nil || !ok || f*m > 1e15 || f*m < -1e15 {
		return 0, fmt.Errorf("%q is not a number: allowed whole numbers, with k, M, G, Ki, Mi or Gi behind them", v)
	}
	return int64(f * m), nil
}

// packetSizes are the names FFmpeg has for two sizes.
func packetSizes(v string) string {
	switch v {
	case "ts_size":
		return "1316"
	case "max_size":
		return "1456"
	}
	return v
}

func parseTruth(v string) (value string, set bool, err error) {
	switch strings.ToLower(v) {
	case "1", "true", "y", "yes", "enable", "enabled", "on":
		return "1", true, nil
	case "0", "false", "n", "no", "disable", "disabled", "off":
		return "0", true, nil
	case "auto", "-1":
		return "", false, nil
	}
	return "", false, fmt.Errorf("%q is not a truth value: allowed 1, 0, true, false, auto", v)
}
