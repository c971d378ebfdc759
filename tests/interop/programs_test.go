package interop

import (
	"testing"
	"time"

	"github.com/weirline/weirline/tests/proctest"
)

// program is one implementation that can be either end of a connection.
type program struct {
	name string
	need func(*testing.T)
	send func(*testing.T, spec) sender
	recv func(*testing.T, spec, *collector) receiver
	// ours ends a connection only when the peer has had time to play the tail;
	// libsrt's own close lets the receiver drop what is not yet due.
	ours bool
	// eager opens its output only when it has read some input.
	eager bool
}

// weirline is the binary as `weirline relay`, reading and writing a pipe.
var weirline = program{
	name: "weirline",
	ours: true,
	need: func(*testing.T) {},
	send: func(t *testing.T, s spec) sender {
		return start(t, nil, binary, "relay", "-", s.url(time.Millisecond, percent))
	},
	recv: func(t *testing.T, s spec, c *collector) receiver {
		return start(t, c, binary, "relay", s.url(time.Millisecond, percent), "-")
	},
}

// slt is libsrt's own tool. Its -c is the size it cuts a pipe into; -a no makes
// it end with the connection, and only at its end does it give out what its
// standard output still holds.
var slt = program{
	name: "srt-live-transmit",
	need: func(t *testing.T) { proctest.Need(t, "srt-tools", "sh", "-c", "command -v srt-live-transmit") },
	send: func(t *testing.T, s spec) sender {
		return start(t, nil, "srt-live-transmit", "-q", "-a", "no", "-c", s.chunk(), "file://con", s.url(time.Millisecond, verbatim))
	},
	recv: func(t *testing.T, s spec, c *collector) receiver {
		return start(t, c, "srt-live-transmit", "-q", "-a", "no", "-c", s.chunk(), s.url(time.Millisecond, verbatim), "file://con")
	},
}

// ffmpeg sends and receives raw data by its own srt protocol, whose latency is
// in microseconds. Raw, because a remuxed stream is never the same bytes.
var ffmpeg = program{
	name:  "ffmpeg",
	eager: true,
	need:  func(t *testing.T) { proctest.Need(t, "ffmpeg", "ffmpeg", "-hide_banner", "-h", "protocol=srt") },
	send: func(t *testing.T, s spec) sender {
		return start(t, nil, "ffmpeg", "-hide_banner", "-loglevel", "warning", "-probesize", "32", "-analyzeduration", "0",
			"-f", "data", "-raw_packet_size", "1316", "-i", "pipe:0",
			"-map", "0", "-c", "copy", "-flush_packets", "1", "-f", "data", s.url(time.Microsecond, verbatim)+"&pkt_size=1316")
	},
	recv: func(t *testing.T, s spec, c *collector) receiver {
		return start(t, c, "ffmpeg", "-hide_banner", "-loglevel", "warning", "-nostdin", "-probesize", "32", "-analyzeduration", "0",
			"-f", "data", "-i", s.url(time.Microsecond, verbatim),
			"-map", "0", "-c", "copy", "-flush_packets", "1", "-f", "data", "pipe:1")
	},
}

// gstreamer is the stock pair of elements.
var gstreamer = program{
	name: "gstreamer",
	need: func(t *testing.T) {
		proctest.Need(t, "gstreamer1.0-tools", "gst-launch-1.0", "--version")
		proctest.Need(t, "gstreamer1.0-plugins-bad", "gst-inspect-1.0", "--exists", "srtsrc")
	},
	send: func(t *testing.T, s spec) sender {
		return start(t, nil, "gst-launch-1.0", "-q", "--no-fault", "fdsrc", "fd=0", "blocksize=1316",
			"!", "srtsink", "sync=false", "uri="+s.url(time.Millisecond, percent))
	},
	recv: func(t *testing.T, s spec, c *collector) receiver {
		return start(t, c, "gst-launch-1.0", "-q", "--no-fault", "srtsrc", "uri="+s.url(time.Millisecond, percent),
			"!", "fdsink", "fd=1", "sync=false")
	},
}
