package ffmpeg

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// value is one spelling of a setting, and what the far listener sees of it.
type value struct {
	options string // of ffmpeg, in front of the address
	query   string
	latency int
	long    int
	id      string
	code    int    // not 0: refused, and not a packet is sent
	said    string // on stderr
}

// FFmpeg's own units and names by exec; ours by the daemon (C22), and stream ids
// in every spelling (C04).
var byExec = []value{
	{query: "latency=200", latency: 0, said: "FFmpeg counts in microseconds"},
	{query: "latency=200000", latency: 200},
	{query: "latency=200ms", latency: 200},
	{options: "-latency 15000", latency: 15, said: "15 ms"},
	{query: "latency=900000000", code: 2, said: "microseconds"},
	{query: "payloadsize=752", long: 752},
	{query: "payload_size=752", long: 752},
	{query: "pkt_size=752", long: 752},
	{query: "latancy=200", code: 2, said: "latency"},
	{query: "timeout=2s"},
	{query: "streamid=#!::r=live/a,m=publish", id: "#!::r=live/a,m=publish"},
	{query: "streamid=%23%21%3A%3Ar%3Dlive%2Fa%2Cm%3Dpublish", id: "#!::r=live/a,m=publish"},
	{query: "streamid=a%26b", id: "a&b"},
	{options: "-srt_streamid 'a&b+100%'", id: "a&b+100%"},
	{query: "streamid=100%", id: "100%"},
	{query: "streamid=100%!::r=a", id: "100%!::r=a"},
}

var byDaemon = []value{
	{query: "latency=200", latency: 200},
	{query: "latency=200ms", latency: 200},
	{query: "latency=200000us", latency: 200},
	{query: "latency=15", latency: 15, said: "milliseconds"},
	{query: "latency=200000", code: 1, said: "milliseconds"},
	{query: "pkt_size=752", long: 752},
	{query: "payload_size=752", long: 752},
	{query: "latancy=200", code: 1, said: "latency"},
	{query: "streamid=%23!::r=live/a,m=publish", id: "#!::r=live/a,m=publish"},
	{query: "streamid=%23%21%3A%3Ar%3Dlive%2Fa%2Cm%3Dpublish", id: "#!::r=live/a,m=publish"},
	{query: "streamid=a%26b", id: "a&b"},
	{query: "streamid=#!::r=live/a", code: 1},
	{query: "streamid=100%", id: "100%"}, // FFmpeg itself escapes it
}

func TestValues(t *testing.T) {
	for i, v := range byExec {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run("exec/"+v.options+v.query, func(t *testing.T) {
			t.Parallel()
			v.check(t, func(port string) (*proctest.Process, *proctest.Process) {
				p := start(t, nil, nil, append(wrapping("", sending+v.options), "srt://127.0.0.1:"+port+"?"+v.query)...)
				return p, p
			})
		})
	}
	for i, v := range byDaemon {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run("daemon/"+v.query, func(t *testing.T) {
			t.Parallel()
			v.check(t, func(port string) (*proctest.Process, *proctest.Process) {
				local, side := httpHop(t, "srt://127.0.0.1:"+port+"?"+v.query)
				return start(t, nil, nil, append(words(sending), local)...), side.Process
			})
		})
	}
}

const sending = "ffmpeg -nostdin -v error -f lavfi -re -i sine=sample_rate=48000 -t 0.5 -c:a mp2 -f mpegts "

func (v value) check(t *testing.T, run func(port string) (p, speaks *proctest.Process)) {
	port := strconv.Itoa(port.Free(t))
	if v.code != 0 {
		v.wantRefused(t, port, run)
		return
	}
	got := receive(t, "srt://127.0.0.1:"+port+"?mode=listener&latency=0")
	p, speaks := run(port)
	p.WantCode(0)
	got.done()
	if got.id != v.id || got.lat[0] != v.latency || v.long != 0 && got.long != v.long {
		t.Errorf("stream id %q, latency %d, longest message %d; want %+v", got.id, got.lat[0], got.long, v)
	}
	v.wantSaid(t, speaks)
}

func (v value) wantRefused(t *testing.T, port string, run func(port string) (p, speaks *proctest.Process)) {
	t.Helper()
	far, err := net.ListenPacket("udp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	p, speaks := run(port)
	p.WantCode(v.code)
	if err := far.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, from, err := far.ReadFrom(make([]byte, 1500)); err == nil {
		t.Errorf("%d bytes came from %v", n, from)
	}
	v.wantSaid(t, speaks)
}

func (v value) wantSaid(t *testing.T, speaks *proctest.Process) {
	t.Helper()
	if !strings.Contains(speaks.Said.String(), v.said) {
		t.Errorf("%q is not said", v.said)
	}
}

// connect_timeout counts in milliseconds for FFmpeg and for us.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	p := wrapped(t, "", sending+"-connect_timeout 1000 srt://127.0.0.1:"+strconv.Itoa(port.Free(t)))
	if code := p.Code(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if took := time.Since(begun); took < 900*time.Millisecond || took > 2500*time.Millisecond {
		t.Errorf("it gave up after %v, want about a second", took)
	}
}
