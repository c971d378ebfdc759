package gst

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// stamped is a buffer as it came out of the source.
type stamped struct {
	seq       uint64
	sent, pts int64 // ns, monotonic clock
	done      int64 // when the sender's sink was done with it; 0: not known
	arrived   int64
	discont   bool
}

// stampedRun sends count packets at rate a second through a relay and returns
// what came.
func stampedRun(t *testing.T, p pairing, count, rate, latency int, path impair.Path) []stamped {
	t.Helper()
	bin := needLoad(t)
	port := port.Free(t)
	relay, err := impair.Start(impair.Config{Target: "127.0.0.1:" + strconv.Itoa(port), Seed: 7, Up: path,
		Down: impair.Path{Delay: path.Delay, Jitter: path.Jitter, InOrder: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	lat := "latency=" + strconv.Itoa(latency)
	secs := float64(count)/float64(rate) + 3
	got := newCollector()
	recv := start(t, got, bin, "clock", p.recv.src, "srt://127.0.0.1:"+strconv.Itoa(port)+"?mode=listener&"+lat, fmt.Sprint(secs))
	proctest.WaitBound(t, "udp", port)
	send := start(t, nil, bin, "stamp", p.send.sink, "srt://"+relay.Addr()+"?"+lat, strconv.Itoa(count), strconv.Itoa(rate))
	if err := send.Wait(proctest.Patience); err != nil {
		t.Fatal(err)
	}
	if err := recv.Wait(proctest.Patience); err != nil {
		t.Fatal(err)
	}
	return readStamps(t, got.bytes())
}

func readStamps(t *testing.T, text []byte) (out []stamped) {
	t.Helper()
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var s stamped
		var discont int
		var before int64
		if _, err := fmt.Sscan(lines.Text(), &s.seq, &s.sent, &before, &s.pts, &s.arrived, &discont); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		s.discont = discont == 1
		if n := len(out); n > 0 && out[n-1].seq+1 == s.seq {
			out[n-1].done = before
		}
		out = append(out, s)
	}
	return out
}

// deviation is how far the time stamps are from sender time + constant: the
// constant is the median, the deviation its largest and its typical distance. The
// sender's time is when its sink got the packet, at some time until it was done with
// it: a thread that had to wait for a processor in between does not count in most.
// That is rare, and p99 allows nothing for it.
func deviation(got []stamped) (constant, most, p99 time.Duration) {
	var d, plain []int64
	for _, s := range got {
		d = append(d, s.pts-s.sent)
	}
	slices.Sort(d)
	mid := d[len(d)/2]
	for i, s := range got {
		off := s.pts - s.sent - mid
		plain = append(plain, max(off, -off))
		if s.done > s.sent && off > 0 {
			off = max(0, off-(s.done-s.sent))
		}
		d[i] = max(off, -off)
	}
	slices.Sort(plain)
	return time.Duration(mid), time.Duration(slices.Max(d)), time.Duration(plain[len(plain)*99/100])
}

// bad is the network of the timing test: 20 ms with 5 ms of jitter either way,
// and 1 % loss.
var bad = impair.Path{Delay: 15 * time.Millisecond, Jitter: 10 * time.Millisecond, InOrder: true, Loss: 0.01}

// TestTiming: through a bad network the time stamps of the buffers are the
// sender's times plus a constant, within a millisecond.
//
// The constant is that of the stock elements, so that a pipeline with both stays in
// step: what the network and the way through the elements take, and the latency.
func TestTiming(t *testing.T) {
	long(t)
	constants := map[pairing]time.Duration{}
	for _, p := range pairings() {
		t.Run(p.name(), func(t *testing.T) {
			const count = 2000
			got := stampedRun(t, p, count, 400, 200, bad)
			if len(got) < count/2 {
				t.Fatalf("%d of %d packets came", len(got), count)
			}
			// The first packets carry the time before the drift is known.
			constant, most, p99 := deviation(got[50:])
			constants[p] = constant
			t.Logf("%d packets, constant %v, deviation at most %v, 99 %% within %v", len(got), constant, most, p99)
			if p.recv == stock {
				return // shown for comparison
			}
			if most > time.Millisecond || p99 > time.Millisecond {
				t.Errorf("time stamps are up to %v from sender time + %v, 99 %% within %v, want 1 ms", most, constant, p99)
			}
			if len(got) != count && p.send == ours {
				t.Errorf("%d of %d packets came", len(got), count)
			}
		})
	}
	// Jitter and handshakes place the time bases of two runs this far apart.
	const apart = 4 * time.Millisecond
	for p, c := range constants {
		if off := c - constants[pairing{p.send, stock}]; off.Abs() > apart {
			t.Errorf("%s: time stamps are %v from those that the stock source gives", p.name(), off)
		}
	}
}

// TestDiscont: the flag stands on the first buffer and on each behind a gap that
// could not be repaired, and on no other.
func TestDiscont(t *testing.T) {
	long(t)
	for _, p := range pairings() {
		t.Run(p.name(), func(t *testing.T) {
			// Every tenth of the data packets is lost for good: repeats too.
			path := impair.Path{Loss: 0.1, Delay: 5 * time.Millisecond, Drop: []impair.Rule{{Kind: impair.Rexmit}}}
			got := stampedRun(t, p, 400, 400, 60, path)
			if len(got) < 200 || len(got) == 400 {
				t.Fatalf("%d of 400 packets came, want most and not all", len(got))
			}
			flagged, want := 0, 0
			for i, s := range got {
				gap := i == 0 || s.seq != got[i-1].seq+1
				if gap {
					want++
				}
				if s.discont {
					flagged++
				}
				if p.recv == ours && gap != s.discont {
					t.Errorf("packet %d after %d: discont %v", s.seq, got[max(0, i-1)].seq, s.discont)
				}
			}
			t.Logf("%d packets, %d gaps, %d flags", len(got), want, flagged)
		})
	}
}
