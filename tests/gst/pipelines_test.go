package gst

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// pipe is one pair of pipelines as people write them. {src} and {sink} become
// the elements of either family, {in} a file of random transport stream, {sent}
// the file that keeps what went into the sink, {port} a free port.
type pipe struct {
	name       string
	send, recv string
	relay      string        // a pipeline between the two, to the next port, {next}
	listens    end           // who is started first
	callers    int           // receivers; 0: one
	late       bool          // callers may miss the start
	decoded    bool          // {out} must hold something at the end
	messages   int           // length of {in}; 0: the usual
	rate       int           // bytes/s; 0: the usual
	latency    time.Duration // 0: the usual
}

type end int

const (
	receiver end = iota
	sender
)

const (
	// paced is random data at 4 Mbit/s with time stamps, as from a live source.
	paced = "filesrc location={in} blocksize=1316 ! identity datarate=500000 sync=true"
	// video is a small live picture as a transport stream, kept on the way.
	video = "videotestsrc num-buffers=45 is-live=true ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! " +
		"x264enc tune=zerolatency key-int-max=15 ! video/x-h264,profile=baseline ! mpegtsmux name=mux alignment=7 ! tee name=t t. ! queue ! filesink location={sent} t. ! queue"
	dump = "fdsink fd=1 sync=false async=false"
	pass = "passphrase=correct-horse-battery"
)

var pipes = []pipe{
	{name: "caller sends to listener",
		send: paced + " ! {sink} uri=srt://127.0.0.1:{port}",
		recv: "{src} uri=srt://:{port} ! " + dump},
	{name: "listener sends to caller", listens: sender,
		send: paced + " ! {sink} uri=srt://:{port}?mode=listener",
		recv: "{src} uri=srt://127.0.0.1:{port}?mode=caller ! " + dump},
	{name: "mode, address and port by properties",
		send: paced + " ! {sink} uri=srt://127.0.0.1:{port} mode=caller latency=80",
		recv: "{src} uri=srt:// mode=listener localaddress=127.0.0.1 localport={port} latency=80 poll-timeout=500 ! " + dump},
	{name: "latency and poll timeout in the uri, listener sink by properties", listens: sender, latency: 150 * time.Millisecond,
		send: paced + " ! {sink} uri=srt:// localaddress=127.0.0.1 localport={port} mode=listener latency=60",
		recv: "{src} uri=srt://127.0.0.1:{port}?latency=150&poll-timeout=100 ! " + dump},
	{name: "encrypted, 16 bytes, in the uri",
		send: paced + " ! {sink} uri=srt://127.0.0.1:{port}?" + pass + "&pbkeylen=16",
		recv: "{src} uri=srt://:{port}?mode=listener&" + pass + "&pbkeylen=16 ! " + dump},
	{name: "encrypted, 24 bytes, by properties",
		send: paced + " ! {sink} uri=srt://127.0.0.1:{port} pbkeylen=24 " + pass,
		recv: "{src} uri=srt://:{port}?mode=listener pbkeylen=24 " + pass + " ! " + dump},
	{name: "encrypted, 32 bytes, listener sends", listens: sender,
		send: paced + " ! {sink} uri=srt://:{port}?mode=listener pbkeylen=32 " + pass,
		recv: "{src} uri=srt://127.0.0.1:{port} " + pass + " ! " + dump},
	{name: "stream id in the uri", listens: sender,
		send: paced + " ! {sink} uri=srt://:{port}?mode=listener",
		recv: "{src} uri=srt://127.0.0.1:{port}?streamid=%23!::r=live/a,m=request ! " + dump},
	{name: "stream id by property",
		send: paced + " ! {sink} uri=srt://127.0.0.1:{port} streamid=publish/live/a",
		recv: "{src} uri=srt://:{port}?mode=listener ! " + dump},
	{name: "listener sends to three callers", listens: sender, callers: 3, late: true, messages: 1000,
		send: paced + " ! {sink} uri=srt://:{port}?mode=listener",
		recv: "{src} uri=srt://127.0.0.1:{port} ! " + dump},
	{name: "transport stream in buffer lists, demuxed",
		send: video + " ! {sink} uri=srt://127.0.0.1:{port}", decoded: true,
		recv: "{src} uri=srt://:{port}?mode=listener ! tee name=r r. ! queue ! " + dump +
			" r. ! queue ! tsparse ! tsdemux ! h264parse ! filesink async=false location={out}"},
	{name: "transport stream to decodebin", decoded: true,
		send: video + " ! {sink} uri=srt://127.0.0.1:{port} wait-for-connection=true",
		recv: "{src} uri=srt://:{port}?mode=listener ! tee name=r r. ! queue ! " + dump +
			" r. ! queue ! decodebin ! filesink sync=false async=false location={out}"},
	{name: "transport stream, listener sends headers first", listens: sender,
		send: video + " ! {sink} uri=srt://:{port}?mode=listener sync=false",
		recv: "{src} uri=srt://127.0.0.1:{port} ! queue ! " + dump},
	{name: "audio and video", decoded: true,
		send: video + " ! {sink} uri=srt://127.0.0.1:{port} audiotestsrc num-buffers=70 is-live=true ! audioconvert ! lamemp3enc ! mpegaudioparse ! queue ! mux.",
		recv: "{src} uri=srt://:{port}?mode=listener ! tee name=r r. ! queue ! " + dump +
			" r. ! queue ! tsdemux name=d d. ! queue ! mpegaudioparse ! filesink async=false location={out} d. ! queue ! h264parse ! fakesink"},
	{name: "large buffers are split",
		send: "filesrc location={in} blocksize=9212 ! identity datarate=500000 sync=true ! {sink} uri=srt://127.0.0.1:{port}",
		recv: "{src} uri=srt://:{port}?mode=listener ! " + dump},
	{name: "small messages",
		send: "filesrc location={in} blocksize=188 ! identity datarate=250000 sync=true ! {sink} uri=srt://127.0.0.1:{port}", messages: 250, rate: 250_000,
		recv: "{src} uri=srt://:{port}?mode=listener ! queue ! " + dump},
	{name: "payload size 1456 and other socket options",
		send: "filesrc location={in} blocksize=1456 ! identity datarate=500000 sync=true ! " +
			"{sink} uri=srt://127.0.0.1:{port}?payloadsize=1456&fc=25600&sndbuf=8388608&oheadbw=50&tlpktdrop=yes",
		recv: "{src} uri=srt://:{port}?mode=listener&rcvbuf=8388608&nakreport=true&lossmaxttl=10&transtype=live ! " + dump},
	{name: "nobody waits for the connection", late: true, messages: 1000,
		send: paced + " ! {sink} uri=srt://127.0.0.1:{port} wait-for-connection=false",
		recv: "{src} uri=srt://:{port}?mode=listener wait-for-connection=false ! " + dump},
	{name: "rtp over srt",
		send: "filesrc location={in} blocksize=1316 ! video/mpegts,systemstream=true,packetsize=188 ! identity datarate=500000 sync=true ! " +
			"rtpmp2tpay mtu=1316 ! {sink} uri=srt://127.0.0.1:{port}",
		recv: "{src} uri=srt://:{port}?mode=listener ! application/x-rtp,media=video,clock-rate=90000,encoding-name=MP2T ! rtpmp2tdepay ! " + dump},
	{name: "a source made from its uri",
		send: paced + " ! {sink} uri=srt://127.0.0.1:{port}",
		recv: "urisourcebin uri={scheme}://:{port}?mode=listener ! " + dump},
	{name: "a relay from listener to caller", listens: receiver,
		send:  paced + " ! {sink} uri=srt://127.0.0.1:{port}",
		relay: "{src} uri=srt://:{port}?mode=listener ! queue ! {sink} sync=false uri=srt://127.0.0.1:{next}",
		recv:  "{src} uri=srt://:{next}?mode=listener ! " + dump},
	{name: "blocksize set on both", listens: sender,
		send: paced + " ! {sink} blocksize=1316 uri=srt://:{port}?mode=listener",
		recv: "{src} blocksize=65536 uri=srt://127.0.0.1:{port} ! " + dump},
}

// usual is 1.3 seconds of paced data.
const usual = 500

// TestDropIn runs every pipeline in all four pairings: the elements change by
// name, nothing else does, and what arrives is what was sent.
func TestDropIn(t *testing.T) {
	needGStreamer(t)
	proctest.Need(t, "gstreamer1.0-plugins-ugly", "gst-inspect-1.0", "--exists", "x264enc")
	for i, p := range pipes {
		use := pairings()
		if short() { // ours with itself, and with stock on one side
			use = []pairing{{ours, ours}, []pairing{{ours, stock}, {stock, ours}}[i%2]}
		}
		for _, pair := range use {
			t.Run(p.name+"/"+pair.name(), func(t *testing.T) {
				t.Parallel()
				runPipe(t, p, pair)
			})
		}
	}
}

func runPipe(t *testing.T, p pipe, pair pairing) {
	dir := t.TempDir()
	in, sent := writeInput(t, 1, cmp.Or(p.messages, usual))
	port := port.Range(t, 2)
	words := []string{"{in}", in, "{sent}", filepath.Join(dir, "sent"), "{out}", filepath.Join(dir, "out"),
		"{port}", strconv.Itoa(port), "{next}", strconv.Itoa(port + 1)}
	got := make([]*collector, max(1, p.callers))
	var recv []*proctest.Process
	receive := func() {
		for i := range got {
			got[i] = newCollector()
			recv = append(recv, launch(t, got[i], pair.recv.fill(p.recv, words...)))
		}
	}
	var send *proctest.Process
	if p.listens == sender {
		send = launch(t, nil, pair.send.fill(p.send, words...))
		proctest.WaitBound(t, "udp", port)
		receive()
	} else {
		receive()
		if p.relay != "" {
			proctest.WaitBound(t, "udp", port+1)
			launch(t, nil, pair.recv.fill(p.relay, words...))
		}
		proctest.WaitBound(t, "udp", port)
		send = launch(t, nil, pair.send.fill(p.send, words...))
	}
	if err := send.Wait(proctest.Patience); err != nil {
		t.Errorf("the sender ended with %v", err)
	}
	allowed := part{}
	if kept, err := os.ReadFile(filepath.Join(dir, "sent")); err == nil {
		sent, allowed.lead = kept, 8*tsPacket
	}
	if p.late {
		allowed.late = len(sent) / 2
	}
	allowed.tail = lostAtEnd(len(sent), p, pair)
	for i, c := range got {
		settle(c, len(sent))
		recv[i].Stop()
		wantPart(t, c.bytes(), sent, allowed)
	}
	if p.decoded {
		if fi, err := os.Stat(filepath.Join(dir, "out")); err != nil || fi.Size() < 1000 {
			t.Errorf("the receiving pipeline made nothing of it: %v %v", fi, err)
		}
	}
}

// lostAtEnd is how much may be missing at the end. The stock sink throws away
// what its peer has not acknowledged when the stream ends, the stock source what
// it has not yet given out when its peer leaves: a latency's worth. Ours do
// neither, but cannot give out what the stock sink did not send.
func lostAtEnd(sent int, p pipe, pair pairing) (most int) {
	const unsent = 10 * message
	window := sent / 5 // of a picture: it is uneven, and lasts 1.5 s
	if !strings.Contains(p.send, "{sent}") {
		latency, rate := cmp.Or(p.latency, 125*time.Millisecond), cmp.Or(p.rate, 500_000)
		window = int((latency + 150*time.Millisecond).Seconds() * float64(rate)) // the stock sink's send buffer waits for a busy machine
	}
	hops := []pairing{pair}
	if p.relay != "" {
		hops = []pairing{{pair.send, pair.recv}, {pair.recv, pair.recv}}
	}
	for _, hop := range hops {
		switch {
		case hop == pairing{stock, stock}:
			most += window
		case hop.send == stock:
			most += unsent
		}
	}
	return most
}

// settle waits until everything is there or nothing more comes.
func settle(c *collector, want int) {
	for end := time.Now().Add(proctest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c.size() >= want || c.settled(700*time.Millisecond) {
			return
		}
	}
}
