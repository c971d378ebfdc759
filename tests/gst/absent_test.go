package gst

import (
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// TestAbsentPeerSink is case C20 (a): a live source before a listening sink that
// nobody calls plays within a second.
func TestAbsentPeerSink(t *testing.T) {
	needGStreamer(t)
	for _, wait := range []string{"true", "false"} {
		h := startHost(t)
		port := port.Free(t)
		h.play("p", ours.fill("videotestsrc is-live=true ! video/x-raw,width=64,height=48 ! jpegenc ! {sink} name=srt wait-for-connection="+wait+
			" uri=srt://:"+itoa(port)+"?mode=listener"))
		e := h.wait("never PLAYING", reached("p", "playing"))
		if e.At > 2000 {
			t.Errorf("wait-for-connection=%s: PLAYING after %.0f ms", wait, e.At)
		}
		if wait == "true" {
			// Blocked because asked to; a flush sets it free.
			if !h.do("flush", "p", args{"element": "srt"}).OK {
				t.Error("the flush was not taken")
			}
		}
		if a := h.state("p", "NULL"); a.MS > 500 {
			t.Errorf("wait-for-connection=%s: NULL took %.0f ms", wait, a.MS)
		}
	}
}

// TestAbsentPeerSource is case C20 (b): a source without a caller holds neither
// its own pipeline's state change nor another branch. A sink with async=true behind
// it would: GStreamer has a pipeline wait for the first buffer of every such sink.
func TestAbsentPeerSource(t *testing.T) {
	needGStreamer(t)
	for _, uri := range []string{"srt://:{port}?mode=listener", "srt://127.0.0.1:{port}"} {
		h := startHost(t)
		uri = fill(uri, port.Free(t))
		h.play("p", ours.fill("{src} name=srt uri="+uri+" ! fakesink async=false audiotestsrc is-live=true num-buffers=200 ! fakesink name=other sync=true"))
		h.wait("never PLAYING beside "+uri, reached("p", "playing"))
		proctest.Eventually(t, "the other branch does not run beside "+uri, func() bool {
			return h.do("rendered", "p", args{"element": "other"}).Number > 20
		})
		if a := h.state("p", "NULL"); a.MS > 500 {
			t.Errorf("%s: NULL took %.0f ms", uri, a.MS)
		}
	}
}

func fill(uri string, port int) string {
	return family{}.fill(uri, "{port}", itoa(port))
}

// TestNullWhileConnecting is case C20 (c): to a closed port, to a port that is
// open and never answers, to a name that does not resolve, NULL comes at once
// whenever it is asked for.
func TestNullWhileConnecting(t *testing.T) {
	needGStreamer(t)
	hole, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hole.Close() }) // after the parallel parts
	targets := map[string]string{
		"closed port":    "srt://127.0.0.1:" + itoa(port.Free(t)),
		"black hole":     "srt://127.0.0.1:" + itoa(hole.LocalAddr().(*net.UDPAddr).Port),
		"no such name":   "srt://nobody.invalid:9000",
		"nobody listens": "srt://:" + itoa(port.Free(t)) + "?mode=listener",
	}
	waits := []time.Duration{0, 10 * time.Millisecond, 500 * time.Millisecond, 2900 * time.Millisecond}
	if short() {
		waits = waits[:3]
	}
	for what, uri := range targets {
		for side, line := range map[string]string{"source": "{src} name=srt uri=" + uri + " ! fakesink async=false", "sink": fixed + " ! {sink} name=srt uri=" + uri} {
			t.Run(what+" "+side, func(t *testing.T) {
				t.Parallel()
				h := startHost(t)
				for _, w := range waits {
					a := h.play("p", ours.fill(line))
					if a.MS > 500 {
						t.Errorf("PLAYING took %.0f ms", a.MS)
					}
					time.Sleep(w)
					if a := h.state("p", "NULL"); a.MS > 500 {
						t.Errorf("NULL after %v took %.0f ms", w, a.MS)
					}
					h.do("free", "p", nil)
				}
			})
		}
	}
}

// TestReconnect: a caller finds its peer again when that comes back, without a
// restart; with auto-reconnect=false it is an error.
func TestReconnect(t *testing.T) {
	needGStreamer(t)
	t.Parallel()
	h := startHost(t)
	port, nobody := port.Free(t), port.Free(t)
	h.play("send", ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:"+itoa(port)))
	for i := range 3 {
		h.play("recv", ours.fill("{src} name=srt uri=srt://:"+itoa(port)+"?mode=listener ! fakesink async=false sync=false"))
		proctest.Eventually(t, fmt.Sprintf("no data in round %d: %s", i, h.story()), func() bool { return h.stats("recv").num("bytes-received-total") > 10*message })
		h.do("free", "recv", nil)
	}
	h.do("free", "send", nil)
	h.play("once", ours.fill(fixed+" ! {sink} name=srt auto-reconnect=false uri=srt://127.0.0.1:"+strconv.Itoa(nobody)))
	h.wait("auto-reconnect=false: no error", busMessage("once", "error"))
}

// TestNegotiatedLatency: the query answers what was negotiated, and the change
// is announced.
func TestNegotiatedLatency(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	port := port.Free(t)
	h.play("recv", ours.fill("{src} name=srt uri=srt://:"+itoa(port)+"?mode=listener&latency=80 ! fakesink async=false sync=false"))
	if a := h.do("latency", "recv", nil); !a.OK || !a.Live || a.Min != 80 {
		t.Errorf("before: %+v, want live and 80 ms", a)
	}
	before := h.count(busMessage("recv", "latency"))
	h.play("send", ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:"+itoa(port)+"?latency=400"))
	h.waitN("no latency message", before+1, busMessage("recv", "latency"))
	proctest.Eventually(t, "the query does not answer 400 ms", func() bool { return h.do("latency", "recv", nil).Min == 400 })
}
