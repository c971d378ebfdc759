package srtcore_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/weirline/weirline/srtcore"
)

func kinds(t srtcore.Trace) map[srtcore.TraceKind]int {
	out := map[srtcore.TraceKind]int{}
	for _, r := range t.Records {
		out[r.Kind] += max(r.Count, 1)
	}
	return out
}

// A trace can be had while the connection lives, when it has ended, and when its
// runtime has; at most what was allowed, and nothing where nothing was.
func TestTraceAtEveryStageOfLife(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	record := func(c *srtcore.Config) { c.TraceRecords = 1024 }
	l := r.listen("127.0.0.1:0", record)
	a := r.dial(l.Addr().String())
	b := r.accept(l)
	for range 50 {
		r.wantWrite(a, "hello")
		r.wantRead(b, "hello")
	}
	if got := a.Trace(); len(got.Records) != 0 || got.Lost != 0 || got.Remote.String() != l.Addr().String() || !got.Caller {
		t.Errorf("without a recorder: %+v", got)
	}
	live := b.Trace()
	if k := kinds(live); k[srtcore.TraceReceived] != 50 || k[srtcore.TraceConnected] != 1 || live.Ended != "" || live.Caller {
		t.Errorf("%v of %+v", k, live)
	}
	if live.Taken.Before(live.Began) || live.RcvLatency != b.RcvLatency() || live.PeerVersion == "" {
		t.Errorf("%+v", live)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	ended := b.Trace()
	if k := kinds(ended); k[srtcore.TraceReceived] != 50 || k[srtcore.TracePeerGone] != 1 || k[srtcore.TraceShutdown] == 0 || ended.Ended == "" {
		t.Errorf("ended: %v, %q", k, ended.Ended)
	}
	if err := r.runtime.Close(); err != nil {
		t.Fatal(err)
	}
	if late := b.Trace(); !reflect.DeepEqual(kinds(late), kinds(ended)) {
		t.Errorf("after the runtime: %v, want %v", kinds(late), kinds(ended))
	}
}

func TestTraceKindsHaveNames(t *testing.T) {
	for k := srtcore.TraceConnected; k <= srtcore.TraceHandshake; k++ {
		text, err := json.Marshal(k)
		var back srtcore.TraceKind
		if err != nil || json.Unmarshal(text, &back) != nil || back != k {
			t.Errorf("kind %d: %s, back as %d, %v", uint8(k), text, uint8(back), err)
		}
	}
	var k srtcore.TraceKind
	for _, bad := range []string{`""`, `"kind 3"`, `3`} {
		if err := json.Unmarshal([]byte(bad), &k); err == nil {
			t.Errorf("%s is taken for %v", bad, k)
		}
	}
}
