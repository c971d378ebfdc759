package route

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/tests/proctest"
)

var (
	live   = endpoint.Traits{Again: true}
	listen = endpoint.Traits{Again: true, Listens: true}
	finite = endpoint.Traits{StartWait: -1, Patience: -1}
	badKey = &srtcore.RejectError{Reason: srtcore.RejBadSecret, Remote: true}
)

type running struct {
	*Route
	stop context.CancelFunc
	done chan error
}

func start(t *testing.T, cfg Config) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{New(cfg), cancel, make(chan error, 1)}
	go func() { r.done <- r.Run(ctx) }()
	t.Cleanup(cancel)
	return r
}

func (r *running) result(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(10 * time.Second):
		t.Fatalf("the route did not end: %+v", r.Snapshot())
		return nil
	}
}

func feed(src *fakeSource, msgs ...string) chan string {
	c := make(chan string, 100)
	for _, m := range msgs {
		c <- m
	}
	src.sessions <- c
	return c
}

func outputs(e ...endpoint.SinkEnd) []endpoint.SinkEnd { return e }

func TestFiniteSourceDeliversItsTailToAll(t *testing.T) {
	src, a, b := newFakeSource(finite), newFakeSink(live), newFakeSink(listen)
	close(feed(src, "1", "2", "3"))
	r := start(t, Config{Source: src, Outputs: outputs(a, b)})
	a.answers <- nil
	b.answers <- nil
	if err := r.result(t); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fakeSink{a, b} {
		if s := f.wait(t, 0, "123"); !s.wasClosed() {
			t.Error("the session was not closed gracefully")
		}
	}
	if s := r.Snapshot(); s.Source.State != Done || s.Outputs[0].State != Done || s.Media.Messages != 3 {
		t.Errorf("at the end: %+v", s)
	}
}

func TestCallerReconnectsWhileTheSourceGoesOn(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(live)
	in := feed(src, "1")
	r := start(t, Config{Source: src, Outputs: outputs(out), MaxAge: time.Minute})
	out.answers <- nil
	out.wait(t, 0, "1").lose() // nobody writes: the route must notice by itself
	waitFor(t, func() bool { return !r.fan.list()[0].isUp() })
	out.answers <- errors.New("not back yet")
	in <- "2"
	out.answers <- nil
	out.wait(t, 1, "2")
	in <- "3"
	out.wait(t, 1, "23")
	r.stop()
	if err := r.result(t); err != nil {
		t.Error(err)
	}
	s := r.Snapshot().Outputs[0]
	if s.Opened != 2 || s.Failures != 2 {
		t.Errorf("opened %d, failures %d; want 2 and 2", s.Opened, s.Failures)
	}
}

func TestSourceReconnects(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(live)
	src.openErr <- srtcore.ErrConnTimeout
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	out.answers <- nil
	close(feed(src, "1"))
	out.wait(t, 0, "1")
	feed(src, "2")
	out.wait(t, 0, "12")
	r.stop()
	if err := r.result(t); err != nil {
		t.Error(err)
	}
}

func TestWrongSecretIsNotTriedAgain(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(live)
	feed(src, "1")
	out.answers <- badKey
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	if err := r.result(t); !errors.Is(err, badKey) {
		t.Fatalf("got %v", err)
	}
	if s := r.Snapshot().Outputs[0]; s.State != Failed || s.Opened != 0 || !strings.Contains(s.Error, "bad secret") {
		t.Errorf("output: %+v", s)
	}
}

func TestOneFailedOutputDoesNotStopTheOthers(t *testing.T) {
	src, bad, good := newFakeSource(live), newFakeSink(live), newFakeSink(live)
	in := feed(src)
	bad.answers <- badKey
	good.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(bad, good)})
	in <- "1"
	good.wait(t, 0, "1")
	in <- "2"
	good.wait(t, 0, "12")
	r.stop()
	if err := r.result(t); !errors.Is(err, badKey) {
		t.Errorf("the failure is not told at the end: %v", err)
	}
}

func TestListenerServesCallersThatComeAndGo(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(listen)
	in := feed(src, "0") // nobody there: dropped, not queued
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	waitFor(t, func() bool { return r.Snapshot().Media.Unheard == 1 })
	out.answers <- nil
	out.answers <- nil
	waitFor(t, func() bool { return len(r.Snapshot().Outputs[0].Sessions) == 2 })
	in <- "1"
	out.wait(t, 0, "1").lose()
	out.wait(t, 1, "1")
	waitFor(t, func() bool { return len(r.Snapshot().Outputs[0].Sessions) == 1 })
	in <- "2"
	out.wait(t, 1, "12")
	out.answers <- nil
	waitFor(t, func() bool { return len(r.Snapshot().Outputs[0].Sessions) == 2 })
	in <- "3"
	out.wait(t, 1, "123")
	out.wait(t, 2, "3")
	r.stop()
	if err := r.result(t); err != nil {
		t.Error(err)
	}
	if s := r.Snapshot().Outputs[0]; s.Opened != 3 || s.Queue.Read != 5 {
		t.Errorf("%+v", s)
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	proctest.Eventually(t, "condition not met", ok)
}

func TestGiveUp(t *testing.T) {
	for name, cfg := range map[string]Config{
		"caller":          {Source: newFakeSource(live), Outputs: outputs(newFakeSink(live))},
		"listener":        {Source: newFakeSource(live), Outputs: outputs(newFakeSink(listen))},
		"source":          {Source: newFakeSource(live), Outputs: outputs(upSink())},
		"source listens":  {Source: newFakeSource(listen), Outputs: outputs(upSink())},
		"waiting to file": {Source: newFakeSource(finite), Outputs: outputs(newFakeSink(live))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg.GiveUp = 50 * time.Millisecond
			if name == "caller" || name == "listener" {
				feed(cfg.Source.(*fakeSource))
			}
			if err := start(t, cfg).result(t); !errors.Is(err, ErrGaveUp) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func upSink() *fakeSink {
	f := newFakeSink(live)
	f.answers <- nil
	return f
}

func TestGiveUpNamesTheLastFailure(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(live)
	feed(src)
	out.answers <- srtcore.ErrConnTimeout
	err := start(t, Config{Source: src, Outputs: outputs(out), GiveUp: 50 * time.Millisecond}).result(t)
	if !errors.Is(err, ErrGaveUp) || !errors.Is(err, srtcore.ErrConnTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestEndedSourceWaitsForAnOutputThatIsConnecting(t *testing.T) {
	src, out := newFakeSource(endpoint.Traits{}), newFakeSink(live)
	close(feed(src, "1"))
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	waitFor(t, func() bool { return r.Snapshot().Source.State == Done })
	out.answers <- nil
	if err := r.result(t); err != nil {
		t.Fatal(err)
	}
	out.wait(t, 0, "1")
}

func TestUndeliveredMediaIsAnError(t *testing.T) {
	src, out := newFakeSource(endpoint.Traits{}), newFakeSink(live)
	close(feed(src, "1"))
	r := start(t, Config{Source: src, Outputs: outputs(out), Last: 20 * time.Millisecond})
	err := r.result(t)
	if f := new(NoPeerError); !errors.As(err, &f) || errors.Is(err, context.Canceled) {
		t.Errorf("nothing was delivered: %v", err)
	}
	if k := endpoint.Judge(err).Kind; k != endpoint.Timeout {
		t.Errorf("kind %v, want a timeout", k)
	}
}

func TestBrokenSourceIsAnError(t *testing.T) {
	src, out := newFakeSource(endpoint.Traits{}), upSink()
	src.openErr <- io.ErrUnexpectedEOF
	if err := start(t, Config{Source: src, Outputs: outputs(out)}).result(t); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestOutputThatIsNotOpenedAgainEndsTheRoute(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(endpoint.Traits{})
	feed(src, "1")
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	out.wait(t, 0, "1").lose()
	if err := r.result(t); err == nil || !strings.Contains(err.Error(), "peer left") {
		t.Errorf("got %v", err)
	}
}

func TestBackOff(t *testing.T) {
	var b backOff
	last := time.Duration(0)
	for i := range 12 {
		d := b.next(0)
		if i == 0 && (d > time.Second || d < 200*time.Millisecond) {
			t.Errorf("first delay %v", d)
		}
		if d > lastDelay || d < last*8/10 {
			t.Errorf("delay %v after %v", d, last)
		}
		last = d
	}
	b.after(time.Second)
	if d := b.next(0); d < 9*time.Second {
		t.Errorf("after a short session: %v", d)
	}
	b.after(time.Minute)
	if d := b.next(0); d > time.Second {
		t.Errorf("after a long session: %v", d)
	}
	for i := range 3 { // attempts that nobody answers, 3 s each
		if d := b.next(3 * time.Second); d > 400*time.Millisecond {
			t.Errorf("after %d long attempts: %v", i+1, d)
		}
	}
}

func TestSlowOutputLosesItsOldestAndTheSourceGoesOn(t *testing.T) {
	src, slow, fine := newFakeSource(live), newFakeSink(live), newFakeSink(live)
	in := feed(src)
	fine.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(slow, fine), Queue: 2})
	want := ""
	for _, m := range []string{"1", "2", "3", "4", "5"} {
		in <- m
		want += m
		fine.wait(t, 0, want)
	}
	slow.answers <- nil
	slow.wait(t, 0, "45")
	if d := r.Snapshot().Outputs[0].Queue.Dropped; d != 3 {
		t.Errorf("dropped %d, want 3", d)
	}
}

func TestOldMediaIsNotSentAfterAnInterruption(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(live)
	in := feed(src, "1")
	r := start(t, Config{Source: src, Outputs: outputs(out), MaxAge: time.Nanosecond})
	out.answers <- nil
	out.wait(t, 0, "1").lose()
	waitFor(t, func() bool { return !r.fan.list()[0].isUp() })
	in <- "2"
	waitFor(t, func() bool { return r.Snapshot().Outputs[0].Queue.Queued == 1 })
	out.answers <- nil
	waitFor(t, func() bool { return r.fan.list()[0].isUp() })
	in <- "3"
	out.wait(t, 1, "3")
}

func TestPatientSourceWaitsForRoom(t *testing.T) {
	src, out := newFakeSource(finite), newFakeSink(live)
	all := ""
	in := feed(src)
	go func() {
		for range 500 {
			in <- "x"
		}
		close(in)
	}()
	for range 500 {
		all += "x"
	}
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out), Queue: 4})
	if err := r.result(t); err != nil {
		t.Fatal(err)
	}
	out.wait(t, 0, all)
}

// A standing route calls a stream again that has ended, and reads no file twice.
func TestStandingRouteCallsAStreamAgain(t *testing.T) {
	src, out := newFakeSource(endpoint.Traits{StartWait: time.Second}), upSink()
	src.openErr <- errors.New("not there yet")
	close(feed(src, "1"))
	close(feed(src, "2"))
	r := start(t, Config{Source: src, Outputs: outputs(out), Standing: true})
	out.wait(t, 0, "12")
	r.stop()
	if err := r.result(t); err != nil || r.Played() {
		t.Errorf("%v, played %v", err, r.Played())
	}
}

func TestStandingRouteReadsAFileOnce(t *testing.T) {
	file := endpoint.Traits{Last: true, StartWait: -1, Patience: -1}
	src, out := newFakeSource(file), upSink()
	close(feed(src, "1"))
	close(feed(src, "2"))
	r := start(t, Config{Source: src, Outputs: outputs(out), Standing: true})
	if err := r.result(t); err != nil || !r.Played() {
		t.Errorf("%v, played %v", err, r.Played())
	}
	out.wait(t, 0, "1")

	src = newFakeSource(file)
	src.openErr <- errors.New("no such file")
	r = start(t, Config{Source: src, Standing: true})
	if err := r.result(t); err == nil || r.Played() {
		t.Errorf("one that could not be opened: %v, played %v", err, r.Played())
	}
}

// A file in a standing route is not read before there is somebody to hear it.
func TestStandingRouteKeepsAFileForItsFirstOutput(t *testing.T) {
	src, out := newFakeSource(endpoint.Traits{Last: true, StartWait: -1, Patience: -1}), upSink()
	all := feedAll(src, 100)
	r := start(t, Config{Source: src, Standing: true})
	waitFor(t, func() bool { return r.Snapshot().Source.State == Up })
	if err := r.AddOutput("a", out); err != nil {
		t.Fatal(err)
	}
	if err := r.result(t); err != nil {
		t.Fatal(err)
	}
	out.wait(t, 0, all)
}
