package gst

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// cost is a line of JSON of the load program.
type cost struct {
	CPU, Secs    float64
	Bytes        uint64
	Threads, FDs int
	Before       int
}

func (c cost) perGbit() float64 { return c.CPU / (float64(c.Bytes) * 8 / 1e9) }

func readCost(t *testing.T, out *collector, what string) (c cost) {
	t.Helper()
	text := bytes.TrimSpace(out.bytes())
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%s: %q: %v", what, text, err)
	}
	return c
}

// measure runs n streams of 10 Mbit/s from one process to another.
func measure(t *testing.T, f family, n int, secs float64, lists bool) (send, recv cost) {
	t.Helper()
	bin := needLoad(t)
	port := strconv.Itoa(port.Range(t, n))
	count := strconv.Itoa(n)
	outSend, outRecv := newCollector(), newCollector()
	r := start(t, outRecv, bin, "recv", f.src, "127.0.0.1", port, count, fmt.Sprint(secs))
	proctest.Eventually(t, "the receiver is not ready", func() bool { return !r.Running() || strings.Contains(r.Said.String(), "ready") })
	list := map[bool]string{false: "0", true: "1"}[lists]
	s := start(t, outSend, bin, "send", f.sink, "127.0.0.1", port, count, "10", fmt.Sprint(secs), list)
	limit := time.Duration(secs*float64(time.Second)) + proctest.Patience
	if err := s.Wait(limit); err != nil {
		t.Fatalf("sender: %v", err)
	}
	if err := r.Wait(limit); err != nil {
		t.Fatalf("receiver: %v", err)
	}
	return readCost(t, outSend, "sender"), readCost(t, outRecv, "receiver")
}

// TestCost measures 32 x 10 Mbit/s from appsrc ! sink in one process to src !
// fakesink in another, in turns with the stock elements. The CPU time is that of
// the whole processes, pipelines and driver included, per bit delivered.
func TestCost(t *testing.T) {
	long(t)
	needGStreamer(t)
	const streams, ratio, secs, rounds = 32, 0.35, 6.0, 3
	plain := sendPlain(t, streams)
	t.Logf("appsrc ! fakesink alone: %.2f CPU-s/Gbit, %d threads", plain.perGbit(), plain.Threads)
	for _, lists := range []bool{false, true} {
		t.Run(map[bool]string{false: "buffers", true: "buffer lists"}[lists], func(t *testing.T) {
			var sum [2]float64
			for range rounds {
				for i, f := range []family{stock, ours} {
					send, recv := measure(t, f, streams, secs, lists)
					delivered := float64(recv.Bytes) * 8 / 1e6 / recv.Secs / (streams * 10)
					sum[i] += send.perGbit() + recv.perGbit()
					t.Logf("%s: sender %.2f CPU-s/Gbit, %d threads; receiver %.2f CPU-s/Gbit, %d threads; delivered %.1f %%",
						f.name, send.perGbit(), send.Threads, recv.perGbit(), recv.Threads, 100*delivered)
					if f == ours {
						wantAdded(t, "the sender", send.Threads, plain.Threads)
						// One thread a source and the main one, as the sender's.
						wantAdded(t, "the receiver", recv.Threads, plain.Threads)
						if delivered < 0.99 {
							t.Errorf("ours delivered %.1f %%", 100*delivered)
						}
					}
				}
			}
			got := sum[1] / sum[0]
			t.Logf("ours takes %.3f of the CPU of stock; %.3f with the plain sender's cost taken off both", got,
				(sum[1]-float64(rounds)*plain.perGbit())/(sum[0]-float64(rounds)*plain.perGbit()))
			if got > ratio {
				t.Errorf("ours takes %.3f of the CPU of stock, want at most %.2f", got, ratio)
			}
		})
	}
}

// sendPlain runs the sending process with fakesink in the element's place: what
// the driver and GStreamer take themselves.
func sendPlain(t *testing.T, n int) cost {
	t.Helper()
	out := newCollector()
	p := start(t, out, needLoad(t), "send", "fakesink", "127.0.0.1", "1", strconv.Itoa(n), "10", "3", "0")
	if err := p.Wait(proctest.Patience); err != nil {
		t.Fatal(err)
	}
	return readCost(t, out, "plain sender")
}

// mostAdded is how many threads our elements may add to a process.
const mostAdded = 8

func wantAdded(t *testing.T, who string, threads, plain int) {
	t.Helper()
	if added := threads - plain; added > mostAdded {
		t.Errorf("%s has %d threads, %d more than without our elements, want at most %d more", who, threads, added, mostAdded)
	}
}

// TestThreads: what our elements add to a process does not grow with their
// number. The same pipelines with fakesrc and fakesink give what GStreamer
// itself takes.
func TestThreads(t *testing.T) {
	long(t)
	needGStreamer(t)
	bin := needLoad(t)
	count := func(src, sink string, n int) cost {
		out := newCollector()
		p := start(t, out, bin, "idle", src, sink, strconv.Itoa(n), strconv.Itoa(port.Range(t, 2*n)))
		if err := p.Wait(proctest.Patience); err != nil {
			t.Fatal(err)
		}
		return readCost(t, out, "idle")
	}
	for _, n := range []int{1, 10, 50, 100} {
		plain, mine, theirs := count("fakesrc", "fakesink", n), count(ours.src, ours.sink, n), count(stock.src, stock.sink, n)
		added := mine.Threads - plain.Threads
		t.Logf("%d sources and %d sinks: GStreamer %d threads, ours %+d, stock %+d", n, n, plain.Threads, added, theirs.Threads-plain.Threads)
		wantAdded(t, fmt.Sprintf("a process of %d + %d elements", n, n), mine.Threads, plain.Threads)
	}
}
