package element_test

import (
	"testing"
	"time"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/tests/port"
)

func TestCallingSinkToListeningSource(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "")), newSink(t, callerURI(port, "&streamid=%23!::r=live"))
	start(t, src)
	start(t, snk)
	before := time.Now()
	snk.wantWrite(t, messages(0, 50))
	ps := src.wantMessages(t, 0, 50)
	for i, p := range ps {
		if p.Discont != (i == 0) {
			t.Errorf("packet %d: Discont = %v", i, p.Discont)
		}
		// A sixth of the latency of 20 ms early at most.
		if p.Play.Before(before) || p.Play.After(time.Now().Add(5*time.Millisecond)) {
			t.Errorf("packet %d: Play is %v after the beginning", i, p.Play.Sub(before))
		}
	}
	src.want(t, "added", 1)
	for name, st := range map[string]element.Stats{"source": src.Stats(), "sink": snk.Stats()} {
		if st.Total != 50*1316 || len(st.Conns) != 1 || st.Listener != (name == "source") {
			t.Errorf("%s: %d bytes, %d connections, listener %v", name, st.Total, len(st.Conns), st.Listener)
		}
	}
	if n := field(t, src.Stats().Conns[0], "packets-received"); n != 50 {
		t.Errorf("packets-received = %d", n)
	}
	if st := snk.Drain(); st != element.OK {
		t.Errorf("Drain = %v", st)
	}
	stop(t, snk)
	src.wantStatus(t, element.EOS)
	src.want(t, "removed", 1)
	if st := snk.Stats(); st.Total != 50*1316 || st.Conns != nil {
		t.Errorf("stopped sink: %+v", st)
	}
	stop(t, src)
	if n, st := src.Read(make([]element.Packet, 1)); n != 0 || st != element.Flushing {
		t.Errorf("stopped source: Read = %d, %v", n, st)
	}
}

func field(t *testing.T, c element.ConnStats, name string) int64 {
	t.Helper()
	for _, f := range c.Fields {
		if f.Name == name {
			return f.I
		}
	}
	t.Fatalf("no field %q", name)
	return 0
}

func TestLongBuffersAreSplitAndHeadersComeFirst(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "&keep-listening=1")), newSink(t, callerURI(port, ""))
	start(t, src)
	snk.SetHeaders([][]byte{[]byte("head"), []byte("er")})
	for run := range 2 {
		start(t, snk)
		long := append(message(1), message(2)...)
		snk.wantWrite(t, [][]byte{append(long, 'x'), message(3)})
		ps := src.read(t, 6)
		want := []string{"head", "er", string(message(1)), string(message(2)), "x", string(message(3))}
		for i := range want {
			if string(ps[i].Payload) != want[i] {
				t.Errorf("run %d: packet %d has %d bytes, want %d", run, i, len(ps[i].Payload), len(want[i]))
			}
		}
		if !ps[0].Discont || ps[1].Discont {
			t.Errorf("run %d: Discont = %v, %v", run, ps[0].Discont, ps[1].Discont)
		}
		stop(t, snk)
		src.want(t, "connection-removed", run+1)
	}
	if n := src.Stats().Total; n != 2*(6+1+3*1316) {
		t.Errorf("Total = %d", n)
	}
}

func TestDrainDeliversTheTail(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "&latency=120")), newSink(t, callerURI(port, "&latency=120"))
	start(t, src)
	start(t, snk)
	got := make(chan int, 1)
	go func() {
		n := 0
		var ps [16]element.Packet
		for {
			k, st := src.Read(ps[:])
			src.Release(ps[:k])
			n += k
			if st != element.OK {
				got <- n
				return
			}
		}
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; i < 400; i += 4 {
		snk.wantWrite(t, messages(i, i+4))
		<-tick.C
	}
	begin := time.Now()
	if st := snk.Drain(); st != element.OK {
		t.Errorf("Drain = %v", st)
	}
	if d := time.Since(begin); d < 100*time.Millisecond || d > time.Second {
		t.Errorf("Drain took %v of a latency of 120 ms", d)
	}
	stop(t, snk)
	if n := <-got; n != 400 {
		t.Errorf("%d of 400 packets arrived", n)
	}
}

func TestDrainEndsOnUnlockAndWhenNotWanted(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "&latency=5000")), newSink(t, callerURI(port, ""))
	start(t, src)
	start(t, snk)
	snk.wantWrite(t, messages(0, 1))
	done := make(chan element.Status)
	go func() { done <- snk.Drain() }()
	select {
	case st := <-done:
		t.Fatalf("Drain = %v at once", st)
	case <-time.After(20 * time.Millisecond):
	}
	snk.Unlock()
	if st := <-done; st != element.Flushing {
		t.Errorf("unlocked: Drain = %v", st)
	}
	snk.UnlockStop()
	if err := snk.set.SetBool(props.DrainOnEOS, false); err != nil {
		t.Fatal(err)
	}
	if st := snk.Drain(); st != element.OK {
		t.Errorf("drain-on-eos=false: Drain = %v", st)
	}
}

func TestLatencyIsTheNegotiatedOne(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	src, snk := newSource(t, listenerURI(port, "")), newSink(t, callerURI(port, "&latency=300"))
	if d, live := src.Latency(); d != 20*time.Millisecond || !live {
		t.Errorf("stopped: Latency = %v, %v", d, live)
	}
	start(t, src)
	start(t, snk)
	src.want(t, "latency", 1)
	if d, live := src.Latency(); d != 300*time.Millisecond || !live {
		t.Errorf("connected: Latency = %v, %v", d, live)
	}
}

func TestDiscontIsWhereTheGapIs(t *testing.T) {
	leakCheck(t)
	port := port.Free(t)
	missing := map[uint32]bool{7: true, 20: true, 21: true}
	r := newRelay(t, port, func(i uint32) bool { return missing[i] })
	src, snk := newSource(t, listenerURI(port, "")), newSink(t, callerURI(r.port(), ""))
	start(t, src)
	start(t, snk)
	snk.wantWrite(t, messages(0, 40))
	i := 0
	for _, p := range src.read(t, 37) {
		gap := i == 0
		for missing[uint32(i)] {
			i, gap = i+1, true
		}
		if string(p.Payload) != string(message(i)) || p.Discont != gap {
			t.Errorf("message %d: Discont = %v, want %v", i, p.Discont, gap)
		}
		i++
	}
}
