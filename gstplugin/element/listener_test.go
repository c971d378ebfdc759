package element_test

import (
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

func TestSecondCallerIsRefusedWhileOneIsServed(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src := newSource(t, listenerURI(port, "&keep-listening=true"))
	first, second := newSink(t, callerURI(port, "")), newSink(t, callerURI(port, "&streamid=two"))
	start(t, src)
	start(t, first)
	first.wantWrite(t, messages(0, 1))
	src.want(t, "added", 1)
	start(t, second)
	src.want(t, "rejected two", 1)
	second.want(t, "warning conflict", 1)
	if r := second.lastReport(); r.ReasonCode != int(srtcore.RejConflict) || r.Code != element.Write {
		t.Errorf("report %+v", r)
	}
	stop(t, first) // the second goes on trying, and is let in
	second.wantWrite(t, messages(1, 2))
	src.wantMessages(t, 0, 2)
	src.want(t, "connection-removed", 1)
	src.want(t, "added", 2)
	if n := second.count("warning conflict"); n != 1 {
		t.Errorf("%d warnings about one reason", n)
	}
}

func TestSecondCallerReplacesTheFirst(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src := newSource(t, listenerURI(port, "&caller-policy=replace"))
	first, second := newSink(t, callerURI(port, "&auto-reconnect=0")), newSink(t, callerURI(port, ""))
	start(t, src)
	start(t, first)
	first.wantWrite(t, messages(0, 1))
	src.wantMessages(t, 0, 1)
	start(t, second)
	second.wantWrite(t, messages(5, 8))
	if ps := src.wantMessages(t, 5, 8); !ps[0].Discont {
		t.Error("another connection begins without Discont")
	}
	first.want(t, "error peer closed", 1)
	src.want(t, "removed", 1)
	src.want(t, "added", 2)
	if n := src.count("connection-removed"); n != 0 {
		t.Errorf("%d times connection-removed", n)
	}
	if _, st := first.Write(messages(0, 1), time.Time{}); st != element.Failed {
		t.Errorf("the replaced one: Write = %v", st)
	}
}

func TestListeningSinkServesMany(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	snk := newSink(t, listenerURI(port, "&max-callers=3"))
	start(t, snk)
	snk.SetHeaders([][]byte{[]byte("head")})
	var callers []*source
	for i := range 3 {
		c := newSource(t, callerURI(port, "&auto-reconnect=false"))
		start(t, c)
		snk.want(t, "added", i+1)
		callers = append(callers, c)
	}
	fourth := newSource(t, callerURI(port, "&streamid=4&auto-reconnect=false"))
	start(t, fourth)
	fourth.want(t, "error overload", 1)
	fourth.wantStatus(t, element.Failed)
	snk.want(t, "rejected 4", 1)

	snk.wantWrite(t, messages(0, 20))
	for _, c := range callers {
		if ps := c.read(t, 1); string(ps[0].Payload) != "head" {
			t.Errorf("first packet %q", ps[0].Payload)
		}
		c.wantMessages(t, 0, 20)
	}
	total := snk.Stats().Total
	if st := snk.Stats(); total != 3*(4+20*1316) || len(st.Conns) != 3 || !st.Listener {
		t.Errorf("%d bytes, %d callers", total, len(st.Conns))
	}
	stop(t, callers[0])
	snk.want(t, "removed", 1)
	snk.wantWrite(t, messages(20, 40))
	for _, c := range callers[1:] {
		c.wantMessages(t, 20, 40)
	}
	if st := snk.Stats(); st.Total != total+2*20*1316 || len(st.Conns) != 2 {
		t.Errorf("one left: %d bytes, %d callers", st.Total, len(st.Conns))
	}
	stop(t, snk)
	if a, r := snk.count("added"), snk.count("removed"); a != 3 || r != 3 {
		t.Errorf("%d added, %d removed", a, r)
	}
	for _, c := range callers[1:] {
		c.want(t, "error peer closed", 1)
	}
}

func TestSlowCallerHurtsNobodyElse(t *testing.T) {
	for _, what := range []string{"drop", "disconnect"} {
		t.Run(what, func(t *testing.T) {
			leakCheck(t)
			port := port.Free(t)
			snk := newSink(t, listenerURI(port, "&caller-backlog=100&slow-caller="+what))
			r := newRelay(t, port, nil)
			good, slow := newSource(t, callerURI(port, "")), newSource(t, callerURI(r.port(), ""))
			start(t, snk)
			start(t, good)
			start(t, slow)
			snk.want(t, "added", 2)
			r.cut()
			var reader sync.WaitGroup
			reader.Go(func() { good.wantMessages(t, 0, 600) })
			for i := 0; i < 600; i += 50 {
				snk.wantWrite(t, messages(i, i+50))
				n := i + 50
				wantSoon(t, "the good caller to have it", func() bool { return good.Stats().Total >= uint64(n*1316) })
			}
			reader.Wait()
			snk.want(t, "warning slow caller", 1)
			if what == "disconnect" {
				snk.want(t, "removed", 1)
			} else if n := len(snk.Stats().Conns); n != 2 {
				t.Errorf("%d callers left", n)
			}
		})
	}
}

func TestAuthenticationAsksAboutEachCaller(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src := newSource(t, listenerURI(port, "&authentication=true&keep-listening=true"))
	src.deny = true
	start(t, src)
	no := newSink(t, callerURI(port, "&streamid=no"))
	start(t, no)
	src.want(t, "connecting no", 1)
	src.want(t, "rejected no", 1)
	no.want(t, "error unauthorized", 1) // although it would reconnect
	if r := no.lastReport(); r.Code != element.NotAuthorized || r.ReasonCode != int(srtcore.RejUnauthorized) {
		t.Errorf("report %+v", r)
	}
	src.mu.Lock()
	src.deny = false
	src.mu.Unlock()
	yes := newSink(t, callerURI(port, "&streamid=yes"))
	start(t, yes)
	yes.wantWrite(t, messages(0, 1))
	src.wantMessages(t, 0, 1)
	src.want(t, "added", 1)
	// The property counts when a caller comes.
	stop(t, yes)
	src.want(t, "removed", 1)
	if err := src.set.SetBool(props.Authentication, false); err != nil {
		t.Fatal(err)
	}
	start(t, yes)
	yes.wantWrite(t, messages(1, 2))
	src.wantMessages(t, 1, 2)
	if n := src.count("connecting yes"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestWaitForConnection(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	for name, uri := range map[string]string{"listener": listenerURI(port, ""), "caller": callerURI(port, "")} {
		snk := newSink(t, uri)
		start(t, snk)
		if err := snk.set.SetBool(props.WaitForConnection, false); err != nil {
			t.Fatal(err)
		}
		if _, st := snk.Write(messages(0, 1), time.Time{}); st != element.OK {
			t.Errorf("%s: dropping: Write = %v", name, st)
		}
		if err := snk.set.SetBool(props.WaitForConnection, true); err != nil {
			t.Fatal(err)
		}
		done := make(chan element.Status)
		go func() {
			_, st := snk.Write(messages(0, 1), time.Time{})
			done <- st
		}()
		snk.Unlock()
		if st := <-done; st != element.Flushing {
			t.Errorf("%s: unlocked: Write = %v", name, st)
		}
		snk.UnlockStop()
		go func() {
			_, st := snk.Write(messages(0, 1), time.Time{})
			done <- st
		}()
		stop(t, snk)
		if st := <-done; st != element.Flushing {
			t.Errorf("%s: stopped: Write = %v", name, st)
		}
		if n := snk.Stats().Total; n != 0 {
			t.Errorf("%s: Total = %d", name, n)
		}
	}
	// The one that waits goes on when somebody comes.
	snk, src := newSink(t, listenerURI(port, "")), newSource(t, callerURI(port, ""))
	start(t, snk)
	done := make(chan element.Status)
	go func() {
		_, st := snk.Write(messages(0, 1), time.Time{})
		done <- st
	}()
	start(t, src)
	if st := <-done; st != element.OK {
		t.Errorf("Write = %v", st)
	}
	src.wantMessages(t, 0, 1)
}
