package element_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/tests/port"
)

func TestManyCyclesLeaveNothing(t *testing.T) {
	leakCheck(t)
	port, nobody := port.Free(t), port.Free(t)
	fds := openFDs(t)
	caller, listener := newSource(t, callerURI(port, "")), newSink(t, listenerURI(port, ""))
	alone := newSink(t, callerURI(nobody, ""))
	for i := range 60 {
		start(t, alone)
		start(t, listener)
		start(t, caller)
		if i%3 == 0 {
			listener.wantWrite(t, messages(i, i+1))
			caller.wantMessages(t, i, i+1)
		}
		if i%2 == 0 {
			stop(t, caller)
			stop(t, listener)
		} else {
			stop(t, listener)
			stop(t, caller)
		}
		stop(t, alone)
	}
	if a, r := listener.count("added"), listener.count("removed"); a != r {
		t.Errorf("%d added, %d removed", a, r)
	}
	wantSoon(t, "descriptors to close", func() bool { return openFDs(t) <= fds+1 })
}

// A handler may stop the element, which waits for the handler in vain.
func TestHandlerStopsItsElement(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "&authentication=1")), newSink(t, callerURI(port, ""))
	for _, event := range []string{"added", "connecting "} {
		stopped := make(chan struct{})
		var once sync.Once
		src.mu.Lock()
		src.on = func(e string) {
			if e == event {
				once.Do(func() { src.Stop(); close(stopped) })
			}
		}
		src.mu.Unlock()
		start(t, src)
		start(t, snk)
		select {
		case <-stopped:
		case <-time.After(patience):
			t.Fatal("Stop hangs in a handler of", event)
		}
		stop(t, snk)
	}
}

// A handler that does not return holds neither Stop nor the next Start up.
func TestHandlerThatHangs(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "")), newSink(t, callerURI(port, ""))
	release := make(chan struct{})
	var once sync.Once
	src.on = func(e string) {
		if e == "added" {
			once.Do(func() { <-release })
		}
	}
	start(t, src)
	start(t, snk)
	src.want(t, "added", 1)
	stop(t, src)
	start(t, src)
	snk.wantWrite(t, messages(0, 1))
	src.wantMessages(t, 0, 1)
	close(release)
	stop(t, snk)
	stop(t, src)
	if n := src.count("removed"); n != 1 { // that of the first run was never said: Stop had returned
		t.Errorf("%d removed", n)
	}
}

func TestPanicIsAnErrorOfTheElement(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "&authentication=1")), newSink(t, callerURI(port, "&auto-reconnect=0"))
	src.on = func(e string) {
		if strings.HasPrefix(e, "connecting") {
			panic("in connecting")
		}
	}
	start(t, src)
	start(t, snk)
	snk.want(t, "error internal error", 1) // the caller is refused, the listener lives
	stop(t, snk)
	src.mu.Lock()
	src.on = func(e string) {
		if e == "added" {
			panic("in added")
		}
	}
	src.mu.Unlock()
	start(t, snk)
	src.want(t, "error internal error", 1)
	src.wantStatus(t, element.Failed)
	if r := src.lastReport(); !strings.Contains(r.Text, "in added") || !strings.Contains(r.Debug, "element.") {
		t.Errorf("report %+v", r)
	}
}

// Everything that may be called by any thread is, while the element comes and
// goes.
func TestCallsFromManyThreads(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, callerURI(port, "")), newSink(t, listenerURI(port, "&wait-for-connection=0"))
	quit := make(chan struct{})
	var threads sync.WaitGroup
	for _, f := range []func(){
		func() { src.Stats(); snk.Stats() },
		func() { src.Latency(); _ = src.set.SetInt("latency", 20) },
		func() { src.Unlock(); src.UnlockStop(); snk.Unlock(); snk.UnlockStop() },
		func() { snk.SetHeaders([][]byte{[]byte("h")}); snk.Write(messages(0, 3), time.Time{}) },
		func() { var ps [4]element.Packet; n, _ := src.Read(ps[:]); src.Release(ps[:n]) },
	} {
		threads.Go(func() {
			tick := time.NewTicker(200 * time.Microsecond)
			defer tick.Stop()
			for {
				select {
				case <-quit:
					return
				case <-tick.C:
					f()
				}
			}
		})
	}
	for range 10 {
		start(t, snk)
		start(t, src)
		snk.want(t, "added", 1)
		stop(t, src)
		stop(t, snk)
	}
	close(quit)
	threads.Wait()
}
