package route

import (
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// feedAll is a source session of n messages of one byte.
func feedAll(src *fakeSource, n int) (all string) {
	in := make(chan string)
	go func() {
		for range n {
			in <- "x"
		}
		close(in)
	}()
	src.sessions <- in
	return strings.Repeat("x", n)
}

func TestPatientSourceWaitsForTheCallersOfAListener(t *testing.T) {
	src, out := newFakeSource(finite), newFakeSink(listen)
	all := feedAll(src, 500)
	out.answers <- nil
	if err := start(t, Config{Source: src, Outputs: outputs(out), Queue: 4}).result(t); err != nil {
		t.Fatal(err)
	}
	out.wait(t, 0, all)
}

func TestPatientSourceWaitsForTheNextCaller(t *testing.T) {
	src, out := newFakeSource(finite), newFakeSink(listen)
	in := feed(src)
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	in <- "1"
	out.wait(t, 0, "1").lose()
	waitFor(t, func() bool { return !r.fan.list()[0].isUp() })
	in <- "2"
	close(in)
	out.answers <- nil
	if err := r.result(t); err != nil {
		t.Fatal(err)
	}
	out.wait(t, 1, "2")
}

func TestListenerThatFailedHoldsNoSource(t *testing.T) {
	src, bad, good := newFakeSource(finite), newFakeSink(listen), newFakeSink(live)
	all := feedAll(src, 100)
	good.answers <- nil
	bad.answers <- badKey
	start(t, Config{Source: src, Outputs: outputs(bad, good), Queue: 4}).result(t)
	good.wait(t, 0, all)
}

// A source with little patience still waits as long as the output moves.
func TestPatienceLastsWhileTheOutputMoves(t *testing.T) {
	const patience = 300 * time.Millisecond
	src, out := newFakeSource(endpoint.Traits{StartWait: -1, Patience: patience}), newFakeSink(live)
	out.gate = make(chan struct{})
	all := feedAll(src, 60)
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out), Queue: 4})
	begun := time.Now()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
			select {
			case out.gate <- struct{}{}:
			default:
			}
		case err := <-r.done:
			if ended = true; err != nil {
				t.Fatal(err)
			}
		case <-t.Context().Done():
			t.Fatal("the route did not end")
		}
	}
	out.wait(t, 0, all)
	if d := time.Since(begun); d < patience {
		t.Errorf("took %v: nothing was shown", d)
	}
}

func TestPatienceEndsWhereNothingMoves(t *testing.T) {
	src, out := newFakeSource(endpoint.Traits{StartWait: -1, Patience: 20 * time.Millisecond}), newFakeSink(live)
	out.gate = make(chan struct{})
	feedAll(src, 100)
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out), Queue: 4})
	waitFor(t, func() bool { return r.Snapshot().Source.State == Done })
	close(out.gate)
	if err := r.result(t); err != nil {
		t.Fatal(err)
	}
	if q := r.Snapshot().Outputs[0].Queue; q.Dropped == 0 || q.Dropped+q.Read != 100 {
		t.Errorf("%+v: want some dropped, 100 in all", q)
	}
}

func TestWhatALostConnectionTookIsCounted(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(live)
	out.gate = make(chan struct{})
	feed(src, "1")
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	waitFor(t, func() bool { s := r.Snapshot(); return s.Media.Messages == 1 && s.Outputs[0].Queue.Queued == 0 })
	out.wait(t, 0, "").lose()
	waitFor(t, func() bool { return r.Snapshot().Outputs[0].Queue.Dropped == 1 })
}
