package route

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
)

// wantNoLeak waits until no more goroutines run than before.
func wantNoLeak(t *testing.T, before int) {
	t.Helper()
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before })
}

func TestOutputsComeAndGoUnderLoad(t *testing.T) {
	before := runtime.NumGoroutine()
	src, stays := newFakeSource(live), upSink()
	in := feed(src)
	r := start(t, Config{Source: src, Outputs: outputs(stays), Queue: 1 << 30, Standing: true})
	var want strings.Builder
	fed := make(chan struct{})
	churned := make(chan struct{})
	go func() {
		defer close(fed)
		pace := time.NewTicker(200 * time.Microsecond)
		defer pace.Stop()
		for i := 0; ; i++ {
			<-pace.C
			m := fmt.Sprintf("%d.", i)
			in <- m
			want.WriteString(m)
			select {
			case <-churned:
				if i > 3000 {
					return
				}
			default:
			}
		}
	}()
	for i := range 60 {
		e := newFakeSink(live)
		if i%2 == 1 {
			e = newFakeSink(listen)
			e.answers <- nil
		}
		e.answers <- nil
		id := fmt.Sprint("a", i)
		if err := r.AddOutput(id, e); err != nil {
			t.Fatalf("output %q: %v", id, err)
		}
		if err := r.AddOutput(id, newFakeSink(live)); !errors.Is(err, ErrExists) {
			t.Fatalf("another %q: %v", id, err)
		}
		if i%3 > 0 {
			waitFor(t, func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.got) > 0 && e.got[0].text != "" })
		}
		if !r.RemoveOutput(id) || r.RemoveOutput(id) {
			t.Errorf("%s could not be removed once, or could be twice", id)
		}
		wantRun(t, e)
	}
	close(churned)
	<-fed
	stays.wait(t, 0, want.String())
	if s := r.Snapshot(); len(s.Outputs) != 1 || s.Outputs[0].Opened != 1 || s.Outputs[0].Queue.Dropped != 0 {
		t.Errorf("the output that stayed: %+v", s.Outputs)
	}
	r.stop()
	if err := r.result(t); err != nil {
		t.Error(err)
	}
	wantNoLeak(t, before)
}

// wantRun checks that each session of a removed output has ended and got a run
// of messages without a hole.
func wantRun(t *testing.T, f *fakeSink) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.got {
		select {
		case <-s.done:
		default:
			t.Error("a session of a removed output goes on")
		}
		next := -1
		for _, m := range strings.Split(strings.TrimSuffix(s.text, "."), ".") {
			var n int
			if _, err := fmt.Sscanf(m, "%d", &n); err != nil && m != "" || next >= 0 && n != next {
				t.Fatalf("%q, want %d", m, next)
			}
			next = n + 1
		}
	}
}

// bindFails is an output whose address is taken.
type bindFails struct{ *fakeSink }

var errTaken = errors.New("address already in use")

func (bindFails) Listen(context.Context) error { return errTaken }

func TestAnOutputThatCannotListenIsNotAdded(t *testing.T) {
	src, out := newFakeSource(live), upSink()
	in := feed(src)
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	if err := r.AddOutput("a", bindFails{newFakeSink(listen)}); !errors.Is(err, errTaken) || !strings.Contains(err.Error(), "fake sink") {
		t.Error(err)
	}
	in <- "1"
	out.wait(t, 0, "1")
	if n := len(r.Snapshot().Outputs); n != 1 {
		t.Errorf("%d outputs", n)
	}
}

func TestARouteThatHasEndedTakesNoOutputs(t *testing.T) {
	src, out := newFakeSource(endpoint.Traits{}), upSink()
	close(feed(src, "1"))
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	if err := r.result(t); err != nil {
		t.Fatal(err)
	}
	if err := r.AddOutput("a", upSink()); !errors.Is(err, ErrEnded) {
		t.Errorf("got %v", err)
	}
}

// TestOutputsThatAreAddedAtTheEnd adds while the route ends: each either runs and
// is ended, or is refused.
func TestOutputsThatAreAddedAtTheEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 200 {
		src, out := newFakeSource(endpoint.Traits{}), upSink()
		in := feed(src)
		r := start(t, Config{Source: src, Outputs: outputs(out), Stop: time.Millisecond})
		var wg sync.WaitGroup
		for _, id := range []string{"a", "b", "c", "d"} {
			wg.Go(func() {
				for {
					if r.AddOutput(id, upSink()) != nil {
						return
					}
					r.RemoveOutput(id)
				}
			})
		}
		close(in)
		r.stop()
		if err := r.result(t); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	}
	wantNoLeak(t, before)
}

func TestAStandingRouteOutlivesItsOutputs(t *testing.T) {
	src, bad := newFakeSource(live), newFakeSink(live)
	var told events
	bad.answers <- badKey
	in := feed(src, "0")
	r := start(t, Config{Source: src, Outputs: outputs(bad), Standing: true, OnEvent: told.add})
	waitFor(t, func() bool { return len(told.of("failed")) == 1 })
	good := upSink()
	if err := r.AddOutput("a", good); err != nil {
		t.Fatal(err)
	}
	in <- "1"
	good.wait(t, 0, "1")
	if s := r.Snapshot(); s.Outputs[0].State != Failed || s.Outputs[1].State != Up {
		t.Errorf("%+v", s.Outputs)
	}
}

func TestAnOutputMayBeRemovedBeforeTheRouteRuns(t *testing.T) {
	r := New(Config{Source: newFakeSource(live), Outputs: outputs(newFakeSink(live), newFakeSink(listen))})
	for _, o := range r.Snapshot().Outputs {
		if !r.RemoveOutput(o.ID) {
			t.Errorf("%s is not there", o.ID)
		}
	}
	r.hub.Publish([]byte("x"), time.Now())
	if r.hub.Stats().Unheard != 1 {
		t.Error("its queue is still filled")
	}
}

// TestCountersOfAnOutputNeverGoDown watches them while sessions come and are lost.
func TestCountersOfAnOutputNeverGoDown(t *testing.T) {
	for name, traits := range map[string]endpoint.Traits{"calls": live, "listens": listen} {
		t.Run(name, func(t *testing.T) {
			src, out := newFakeSource(live), newFakeSink(traits)
			in := feed(src)
			r := start(t, Config{Source: src, Outputs: outputs(out), Queue: 50, MaxAge: time.Minute})
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() { watchCounters(t, r, stop) })
			wg.Go(func() {
				for {
					select {
					case in <- "0123456789":
					case <-stop:
						return
					}
				}
			})
			rounds := 200
			if !traits.Listens {
				rounds = 3 // each waits for the back-off
			}
			for i := range rounds {
				out.answers <- nil
				waitFor(t, func() bool {
					out.mu.Lock()
					defer out.mu.Unlock()
					return len(out.got) > i && len(out.got[i].text) > 100
				})
				out.mu.Lock()
				s := out.got[i]
				out.mu.Unlock()
				s.lose()
			}
			close(stop)
			wg.Wait()
		})
	}
}

func watchCounters(t *testing.T, r *running, stop chan struct{}) {
	var last hub.ReaderStats
	for {
		q := r.Snapshot().Outputs[0].Queue
		if q.Read < last.Read || q.Dropped < last.Dropped || q.DroppedBytes < last.DroppedBytes {
			t.Errorf("%+v after %+v", q, last)
			return
		}
		last = q
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Microsecond):
		}
	}
}
