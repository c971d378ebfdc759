package gst

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// TestEndOfStream: 1,000 packets at 4,000 a second, then end of stream and NULL
// at once, as gst-launch-1.0 does. The stock sink loses what is inside the
// latency window; ours delivers everything, to either receiver.
func TestEndOfStream(t *testing.T) {
	needGStreamer(t)
	rounds := 20
	if short() {
		rounds = 1
	}
	for _, p := range []pairing{{ours, ours}, {ours, stock}} {
		for _, listener := range []end{receiver, sender} {
			name := p.name() + map[end]string{receiver: " called", sender: " calling"}[listener]
			t.Run(name, func(t *testing.T) {
				for range rounds {
					if !endOfStream(t, p, listener, "latency=125", 0) {
						return
					}
				}
			})
		}
	}
}

// endOfStream reports whether all arrived; over is how much longer than the
// pace the sender may take, 0 for the usual.
func endOfStream(t *testing.T, p pairing, listener end, more string, over time.Duration) bool {
	t.Helper()
	const count, rate = 1000, 4000
	in, sent := writeInput(t, 2, count)
	port := port.Free(t)
	words := []string{"{in}", in, "{listen}", "srt://:" + strconv.Itoa(port) + "?mode=listener&" + more,
		"{call}", "srt://127.0.0.1:" + strconv.Itoa(port) + "?" + more, "{rate}", strconv.Itoa(rate * message)}
	const pace = "filesrc location={in} blocksize=1316 ! identity datarate={rate} sync=true ! {sink} uri="
	got := newCollector()
	var send *proctest.Process
	if listener == receiver {
		launch(t, got, p.recv.fill("{src} uri={listen} ! "+dump, words...))
		proctest.WaitBound(t, "udp", port)
		send = launch(t, nil, p.send.fill(pace+"{call}", words...))
	} else {
		send = launch(t, nil, p.send.fill(pace+"{listen}", words...))
		proctest.WaitBound(t, "udp", port)
		launch(t, got, p.recv.fill("{src} uri={call} ! "+dump, words...))
	}
	began := time.Now()
	if err := send.Wait(proctest.Patience); err != nil {
		t.Errorf("the sender ended with %v", err)
		return false
	}
	if took := time.Since(began); over > 0 && took > over {
		t.Errorf("the sender took %v to its end, want at most %v", took, over)
	}
	settle(got, len(sent))
	if b := got.bytes(); !bytes.Equal(b, sent) {
		t.Errorf("%d of %d packets arrived (%d bytes; a beginning of what was sent: %v)", len(b)/message, count, len(b), bytes.HasPrefix(sent, b))
		return false
	}
	return true
}

// TestLastPackets is case C16: the tail survives at every latency, and the end
// comes no later than the latency and a second.
func TestLastPackets(t *testing.T) {
	long(t)
	needGStreamer(t)
	for _, latency := range []int{120, 500, 2000} {
		for _, p := range []pairing{{ours, ours}, {ours, stock}} {
			t.Run(p.name()+" "+strconv.Itoa(latency)+" ms", func(t *testing.T) {
				t.Parallel()
				limit := time.Duration(latency)*time.Millisecond + 250*time.Millisecond + 2*time.Second
				endOfStream(t, p, receiver, "latency="+strconv.Itoa(latency), limit)
			})
		}
	}
}

// TestLostLastPacket is case C16 with the last packet lost: nothing behind it tells
// the receiver, and the sender repeats it before it leaves.
func TestLostLastPacket(t *testing.T) {
	needGStreamer(t)
	for _, p := range []pairing{{ours, ours}, {ours, stock}} {
		t.Run(p.name(), func(t *testing.T) {
			t.Parallel()
			const count = 300
			in, sent := writeInput(t, 4, count)
			port := port.Free(t)
			relay, err := impair.Start(impair.Config{Target: "127.0.0.1:" + strconv.Itoa(port), Seed: 1,
				Up: impair.Path{Drop: []impair.Rule{{Kind: impair.Data, Skip: count - 1, Count: 1}}}})
			if err != nil {
				t.Fatal(err)
			}
			defer relay.Close()
			got := newCollector()
			launch(t, got, p.recv.fill("{src} uri=srt://:"+strconv.Itoa(port)+"?mode=listener&latency=500 ! "+dump))
			proctest.WaitBound(t, "udp", port)
			send := launch(t, nil, p.send.fill(paced+" ! {sink} uri=srt://"+relay.Addr()+"?latency=500", "{in}", in))
			if err := send.Wait(proctest.Patience); err != nil {
				t.Errorf("the sender ended with %v", err)
			}
			settle(got, len(sent))
			wantPart(t, got.bytes(), sent, part{})
		})
	}
}

// TestDrainIsBounded: the end of the stream comes when the last packet was played,
// and no later than a second after that, also when the peer is gone without a word.
func TestDrainIsBounded(t *testing.T) {
	needGStreamer(t)
	for _, dead := range []bool{false, true} {
		t.Run(map[bool]string{false: "peer plays", true: "peer is dead"}[dead], func(t *testing.T) {
			t.Parallel()
			const latency = 500
			h := startHost(t)
			port := port.Free(t)
			got := newCollector()
			recv := launch(t, got, ours.fill("{src} uri=srt://:"+itoa(port)+"?mode=listener&latency=500 ! "+dump))
			proctest.WaitBound(t, "udp", port)
			h.play("send", ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:"+itoa(port)+"?latency=500"))
			proctest.Eventually(t, "nothing is received", func() bool { return got.size() > 20*message })
			if dead {
				recv.Kill()
			}
			began := h.do("eos", "send", nil).At
			took := h.wait("no end of stream", busMessage("send", "eos")).At - began
			if took < latency-100 && !dead || took > latency+1000 {
				t.Errorf("the end of the stream took %.0f ms with a latency of %d ms", took, latency)
			}
		})
	}
}

// TestSourceGivesOutTheTail: a source whose peer leaves delivers what it holds,
// on schedule, and then ends the stream.
func TestSourceGivesOutTheTail(t *testing.T) {
	needGStreamer(t)
	t.Parallel()
	for _, latency := range []string{"120", "500"} {
		in, sent := writeInput(t, 3, 300)
		port := strconv.Itoa(port.Free(t))
		got := newCollector()
		recv := launch(t, got, ours.fill("{src} uri=srt://:"+port+"?mode=listener&latency="+latency+" ! "+dump))
		n, _ := strconv.Atoi(port)
		proctest.WaitBound(t, "udp", n)
		// The stock sink shuts down at once; nearly everything is then still
		// waiting at the receiver for its time.
		launch(t, nil, stock.fill("filesrc location="+in+" blocksize=1316 ! identity datarate=395000 sync=true ! {sink} uri=srt://127.0.0.1:"+port+"?latency="+latency))
		if err := recv.Wait(proctest.Patience); err != nil {
			t.Errorf("the receiver ended with %v, want the end of the stream", err)
		}
		// What the sender had not put on the wire when it left is its loss.
		wantPart(t, got.bytes(), sent, part{tail: 4 * message})
	}
}

// TestDrainCanBeLeft: NULL while the sink waits for the end of the stream to be
// delivered is quick, also when the peer is gone.
func TestDrainCanBeLeft(t *testing.T) {
	needGStreamer(t)
	t.Parallel()
	h := startHost(t)
	port := strconv.Itoa(port.Free(t))
	h.play("recv", ours.fill("{src} name=srt uri=srt://:"+port+"?mode=listener&latency=4000 ! fakesink async=false sync=false"))
	h.play("send", ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:"+port+"?latency=4000"))
	h.wait("not connected", signal("recv", "caller-added"))
	proctest.Eventually(t, "nothing was sent", func() bool { return h.stats("send").num("bytes-sent-total") > 20*message })
	h.do("eos", "send", nil)
	if a := h.state("send", "NULL"); a.MS > 500 {
		t.Errorf("NULL took %.0f ms during the drain", a.MS)
	}
}

// TestDrainCanBeSwitchedOff: drain-on-eos=false is the stock behaviour.
func TestDrainCanBeSwitchedOff(t *testing.T) {
	needGStreamer(t)
	t.Parallel()
	h := startHost(t)
	port := strconv.Itoa(port.Free(t))
	h.play("recv", ours.fill("{src} name=srt uri=srt://:"+port+"?mode=listener&latency=3000 ! fakesink async=false sync=false"))
	h.play("send", ours.fill(fixed+" ! {sink} name=srt uri=srt://127.0.0.1:"+port+"?latency=3000 drain-on-eos=false"))
	proctest.Eventually(t, "nothing was sent", func() bool { return h.stats("send").num("bytes-sent-total") > 20*message })
	began := h.do("eos", "send", nil).At
	if took := h.wait("no end of stream", busMessage("send", "eos")).At - began; took > 500 {
		t.Errorf("without draining the end took %.0f ms", took)
	}
}
