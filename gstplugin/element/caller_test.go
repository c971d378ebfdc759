package element_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

func TestWrongPassphraseIsAnErrorAtOnce(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src := newSource(t, listenerURI(port, "&passphrase=0123456789"))
	start(t, src)
	snk := newSink(t, callerURI(port, "&passphrase=9876543210"))
	start(t, snk)
	snk.want(t, "error bad secret", 1)
	r := snk.lastReport()
	if r.Code != element.NotAuthorized || r.ReasonCode != int(srtcore.RejBadSecret) || !strings.Contains(r.Text, "passphrase") {
		t.Errorf("report %+v", r)
	}
	if _, st := snk.Write(messages(0, 1), time.Time{}); st != element.Failed {
		t.Errorf("Write = %v", st)
	}
	if n := snk.count("warning bad secret"); n != 0 {
		t.Errorf("%d warnings", n)
	}
}

func TestAbsentPeer(t *testing.T) {
	leakCheck(t)
	port, nobody := port.Free(t), port.Free(t)
	r := newRelay(t, port, nil)
	src := newSource(t, callerURI(r.port(), "&conntimeo=50"))
	start(t, src)
	// Induction packets of several attempts, each with at least one.
	wantSoon(t, "several attempts", func() bool { return r.seen.Load() >= 5 })
	src.want(t, "warning timeout", 1)
	if n := src.count("warning timeout"); n != 1 {
		t.Errorf("%d warnings for one reason", n)
	}
	// The listener appears.
	snk := newSink(t, listenerURI(port, ""))
	start(t, snk)
	snk.wantWrite(t, messages(0, 3))
	src.wantMessages(t, 0, 3)

	strict := newSource(t, callerURI(nobody, "&conntimeo=50&auto-reconnect=no"))
	start(t, strict)
	strict.want(t, "error timeout", 1)
	if r := strict.lastReport(); r.Code != element.Read || !strings.Contains(r.Text, "127.0.0.1") {
		t.Errorf("report %+v", r)
	}
	strict.wantStatus(t, element.Failed)
}

func TestCallersReconnect(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	snk, src := newSink(t, listenerURI(port, "")), newSource(t, callerURI(port, ""))
	start(t, src)
	for run := range 3 {
		start(t, snk)
		snk.wantWrite(t, messages(run, run+1))
		if ps := src.wantMessages(t, run, run+1); !ps[0].Discont {
			t.Errorf("connection %d begins without Discont", run)
		}
		stop(t, snk)
		src.want(t, "warning peer closed", run+1)
	}
	if n := src.Stats().Total; n != 3*1316 {
		t.Errorf("Total = %d", n)
	}
}

func TestSilentPeerIsNoticed(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	r := newRelay(t, port, nil)
	snk := newSink(t, listenerURI(port, "&peeridletimeo=300"))
	src := newSource(t, callerURI(r.port(), "&peeridletimeo=300&auto-reconnect=false"))
	start(t, snk)
	start(t, src)
	snk.want(t, "added", 1)
	wantSoon(t, "the caller to be connected", func() bool { return len(src.Stats().Conns) == 1 })
	r.cut()
	snk.want(t, "removed", 1)
	src.want(t, "error peer idle", 1)
	if r := src.lastReport(); r.Code != element.Read {
		t.Errorf("report %+v", r)
	}
}

// startError starts an element that cannot be started.
func startError(t *testing.T, s *source) *element.Report {
	t.Helper()
	err := s.Start()
	r, ok := err.(*element.Report)
	if !ok {
		t.Fatalf("Start = %v, want a *Report", err)
	}
	return r
}

func TestStartRefuses(t *testing.T) {
	leakCheck(t)
	for _, c := range []struct {
		uri, text string
	}{
		{"srt://127.0.0.1:7001?passphrase=123456789", "10..80 bytes"},
		{"srt://127.0.0.1:7001?latency=-1", "latency"},
		{"srt://127.0.0.1:7001?mss=9000", "mss"},
		{"srt://127.0.0.1:7001?mode=rendezvous", "rendezvous"},
		{"srt://127.0.0.1", "port"},
	} {
		r := startError(t, newSource(t, c.uri))
		if r.Code != element.OpenRead || !strings.Contains(r.Text, c.text) || strings.Contains(r.Error(), "123456789") {
			t.Errorf("%s: %+v", c.uri, r)
		}
	}
	busy := loopback(t).LocalAddr().String()
	r := startError(t, newSource(t, "srt://"+busy+"?mode=listener"))
	if r.Code != element.OpenRead || !strings.Contains(r.Text, busy) || !strings.Contains(r.Text, "another port") {
		t.Errorf("port in use: %+v", r)
	}
}

func TestUnknownHostIsAnError(t *testing.T) {
	leakCheck(t)
	src := newSource(t, "srt://no-such-host.invalid:7001?conntimeo=2000&auto-reconnect=false")
	start(t, src)
	src.wantStatus(t, element.Failed)
	r := src.lastReport()
	if !strings.Contains(r.Text, "no-such-host.invalid") {
		t.Errorf("report %+v", r)
	}
}

func TestURIWarningsArePosted(t *testing.T) {
	leakCheck(t)
	snk := newSink(t, callerURI(port.Free(t), "&latancy=200&tlpktdrop=perhaps"))
	start(t, snk)
	if n := snk.count("warning bad option"); n != 2 {
		t.Errorf("%d warnings, want 2: %+v", n, snk.reports)
	}
	if _, err := snk.set.SetURI("srt://127.0.0.1:1"); err == nil {
		t.Error("the URI was changed while open")
	}
	stop(t, snk)
	if _, err := snk.set.SetURI("srt://127.0.0.1:1"); err != nil {
		t.Error(err)
	}
}

func TestUnlockEndsReading(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "")), newSink(t, callerURI(port, ""))
	start(t, src)
	read := func() chan element.Status {
		done := make(chan element.Status, 1)
		go func() {
			var ps [1]element.Packet
			n, st := src.Read(ps[:])
			src.Release(ps[:n])
			done <- st
		}()
		return done
	}
	wantFlushing := func(done chan element.Status) {
		t.Helper()
		select {
		case st := <-done:
			if st != element.Flushing {
				t.Errorf("Read = %v", st)
			}
		case <-time.After(patience):
			t.Fatal("Read does not return")
		}
	}
	done := read() // nobody is there
	src.Unlock()
	wantFlushing(done)
	start(t, snk)
	src.want(t, "added", 1) // while unlocked
	wantFlushing(read())
	src.UnlockStop()
	done = read()
	src.Unlock()
	wantFlushing(done)
	src.UnlockStop()
	snk.wantWrite(t, messages(0, 2))
	src.wantMessages(t, 0, 2)
	done = read()
	stop(t, src)
	wantFlushing(done)
}
