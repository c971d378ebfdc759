package gstplugin

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-gst/go-gst/gst"

	"github.com/weirline/weirline/tests/port"
)

func setup(t *testing.T) {
	t.Helper()
	gst.Init(nil)
	for range 2 { // once more is fine
		if err := Register(); err != nil {
			t.Fatal(err)
		}
	}
}

func parse(t *testing.T, line string) *gst.Pipeline {
	t.Helper()
	p, err := gst.NewPipelineFromString(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	t.Cleanup(func() { _ = p.SetState(gst.StateNull) })
	return p
}

func named(t *testing.T, p *gst.Pipeline, name string) *gst.Element {
	t.Helper()
	e, err := p.GetElementByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// message returns the text of the next message of that type, and waits for it.
func message(t *testing.T, p *gst.Pipeline, want gst.MessageType) string {
	t.Helper()
	m := p.GetPipelineBus().TimedPopFiltered(gst.ClockTime(10*time.Second), want|gst.MessageError)
	if m == nil {
		t.Fatalf("no message of type %v within 10 s", want)
	}
	switch m.Type() {
	case gst.MessageError:
		e := m.ParseError()
		if want != gst.MessageError {
			t.Fatalf("error: %v\n%s", e.Error(), e.DebugString())
		}
		return e.Error()
	case gst.MessageWarning:
		return m.ParseWarning().Error()
	}
	return ""
}

// TestPanicIsAnElementError makes every export panic and looks for the message;
// that the process is still there is the other half.
func TestPanicIsAnElementError(t *testing.T) {
	setup(t)
	const (
		sink   = "fakesrc num-buffers=1 sizetype=fixed sizemax=188 ! capsfilter caps=video/mpegts ! srtgosink name=it async=false sync=false wait-for-connection=false uri=srt://127.0.0.1:%d"
		source = "srtgosrc name=it uri=srt://127.0.0.1:%d?mode=listener ! fakesink"
	)
	nothing := func(*gst.Element) {}
	for _, c := range []struct {
		export, line string
		after        func(*gst.Element) // once it plays
	}{
		{"start", source, nothing},
		{"start", sink, nothing},
		{"read", source, nothing},
		{"write", sink, nothing},
		{"drain", sink, nothing},
		{"set_caps", sink, nothing},
		{"unlock", source, func(e *gst.Element) { _ = e.SetState(gst.StateNull) }},
		{"unlock_stop", source, func(e *gst.Element) { _ = e.SetState(gst.StateNull) }},
		{"stop", source, func(e *gst.Element) { _ = e.SetState(gst.StateReady) }},
		{"latency", source, func(e *gst.Element) { e.Query(gst.NewLatencyQuery()) }},
		{"stats", source, func(e *gst.Element) { _, _ = e.GetProperty("stats") }},
		{"get_property", source, func(e *gst.Element) { _, _ = e.GetProperty("latency") }},
		{"set_property", source, func(e *gst.Element) { _ = e.SetProperty("latency", 200) }},
		{"get_uri", source, func(e *gst.Element) { e.URIHandler().GetURI() }},
		{"set_uri", source, func(e *gst.Element) { _, _ = e.URIHandler().SetURI("srt://127.0.0.1:1") }},
	} {
		t.Run(c.export, func(t *testing.T) {
			p := parse(t, fmt.Sprintf(c.line, port.Free(t)))
			fault = func(export string) {
				if export == c.export {
					panic("planted")
				}
			}
			defer func() { fault = nil }()
			_ = p.SetState(gst.StatePlaying)
			c.after(named(t, p, "it"))
			want := "internal fault in " + c.export + ": planted"
			if got := message(t, p, gst.MessageError); !strings.Contains(got, want) {
				t.Errorf("error %q, want %q", got, want)
			}
			_ = p.SetState(gst.StateNull)
		})
	}
}

// TestPanicBetweenThreadAndNetwork is the same for the goroutines that serve the
// rings, with a connection. The packets come nevertheless.
func TestPanicBetweenThreadAndNetwork(t *testing.T) {
	setup(t)
	for _, where := range []string{"ferry", "porter"} {
		t.Run(where, func(t *testing.T) {
			port := port.Free(t)
			receiver := parse(t, fmt.Sprintf("srtgosrc name=it uri=srt://127.0.0.1:%d?mode=listener&latency=30 ! fakesink", port))
			sender := parse(t, fmt.Sprintf("fakesrc num-buffers=40 sizetype=fixed sizemax=1000 datarate=100000 ! srtgosink name=it uri=srt://127.0.0.1:%d?latency=30 sync=true", port))
			var planted atomic.Int32
			fault = func(at string) {
				if at == where && planted.Add(1) == 1 {
					panic("planted")
				}
			}
			t.Cleanup(func() { fault = nil })
			for _, p := range []*gst.Pipeline{receiver, sender} {
				if err := p.SetState(gst.StatePlaying); err != nil {
					t.Fatal(err)
				}
			}
			told := map[string]*gst.Pipeline{"ferry": receiver, "porter": sender}[where]
			if got, want := message(t, told, gst.MessageError), "internal fault in "+where+": planted"; !strings.Contains(got, want) {
				t.Errorf("error %q, want %q", got, want)
			}
			message(t, sender, gst.MessageEOS)
			wantStats(t, receiver, "(guint64)40000")
		})
	}
}

// wantStats waits for a text in the statistics.
func wantStats(t *testing.T, p *gst.Pipeline, want string) {
	t.Helper()
	it := named(t, p, "it")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		got, _ := it.GetProperty("stats")
		if strings.Contains(fmt.Sprint(got), want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("statistics %v, want %q", got, want)
		}
	}
}

// TestFullRings: bursts of more than the rings hold, of packets and of buffers
// that must be cut, arrive complete.
func TestFullRings(t *testing.T) {
	setup(t)
	port := port.Free(t)
	receiver := parse(t, fmt.Sprintf("srtgosrc name=it uri=srt://127.0.0.1:%d?mode=listener&latency=60 ! fakesink", port))
	if err := receiver.SetState(gst.StatePlaying); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, size := range []int{100, 1316, 5000} {
		sender := parse(t, fmt.Sprintf("fakesrc num-buffers=2000 sizetype=fixed sizemax=%d ! srtgosink sync=false uri=srt://127.0.0.1:%d?latency=60&snddropdelay=-1", size, port))
		sent += 2000 * size
		if size == 100 { // before the first leaves
			_ = named(t, receiver, "it").SetProperty("keep-listening", true)
		}
		if err := sender.SetState(gst.StatePlaying); err != nil {
			t.Fatal(err)
		}
		message(t, sender, gst.MessageEOS)
		_ = sender.SetState(gst.StateNull)
		wantStats(t, receiver, fmt.Sprintf("(guint64)%d", sent))
	}
}

// TestPanicInCreation: nobody can be told, and the element refuses to work.
func TestPanicInCreation(t *testing.T) {
	setup(t)
	fault = func(export string) { panic("planted") }
	p := parse(t, "srtgosrc uri=srt://127.0.0.1:7001 ! fakesink")
	fault = nil
	if err := p.SetState(gst.StatePlaying); err == nil {
		t.Error("an element without its Go side plays")
	}
}

func TestURIHandlersOfBoth(t *testing.T) {
	setup(t)
	for name, want := range map[string]gst.URIType{"srtgosrc": gst.URISource, "srtgosink": gst.URISink} {
		e, err := gst.NewElement(name)
		if err != nil {
			t.Fatal(err)
		}
		h := e.URIHandler()
		if got := h.GetURIType(); got != want {
			t.Errorf("%s: URI type %v, want %v", name, got, want)
		}
		if ok, err := h.SetURI("srtgo://127.0.0.1:9?latency=300"); !ok {
			t.Errorf("%s: srtgo is refused: %v", name, err)
		}
		if v, err := e.GetProperty("latency"); err != nil || v != 300 {
			t.Errorf("%s: latency %v, %v, want 300 of the URI", name, v, err)
		}
		if ok, _ := h.SetURI("srt://127.0.0.1:nowhere"); ok {
			t.Errorf("%s: takes a port that is no number", name)
		}
	}
}

// TestUnreadableURI: the property cannot fail, so starting does.
func TestUnreadableURI(t *testing.T) {
	setup(t)
	p := parse(t, "srtgosrc uri=srt://127.0.0.1:nowhere ! fakesink")
	if err := p.SetState(gst.StatePlaying); err == nil {
		t.Error("plays nevertheless")
	}
	if got := message(t, p, gst.MessageError); !strings.Contains(got, "URI") {
		t.Errorf("error %q does not speak of the URI", got)
	}
}

// TestLoop sends and receives, with properties and statistics in use by other
// threads all the time.
func TestLoop(t *testing.T) {
	setup(t)
	port := port.Free(t)
	receiver := parse(t, fmt.Sprintf("srtgosrc name=it uri=srt://127.0.0.1:%d?mode=listener ! fakesink name=out", port))
	if err := receiver.SetState(gst.StatePlaying); err != nil {
		t.Fatal(err)
	}
	sender := parse(t, fmt.Sprintf("fakesrc num-buffers=500 sizetype=fixed sizemax=1316 datarate=2000000 ! srtgosink name=it uri=srt://127.0.0.1:%d", port))
	stop := make(chan struct{})
	var users sync.WaitGroup
	for _, p := range []*gst.Pipeline{sender, receiver} {
		it := named(t, p, "it")
		users.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				_ = it.SetProperty("latency", 120+i%10)
				_, _ = it.GetProperty("stats")
				_, _ = it.GetProperty("uri")
				time.Sleep(time.Millisecond)
			}
		})
	}
	if err := sender.SetState(gst.StatePlaying); err != nil {
		t.Fatal(err)
	}
	message(t, sender, gst.MessageEOS)
	_ = sender.SetState(gst.StateNull)
	message(t, receiver, gst.MessageEOS)
	close(stop)
	users.Wait()
	if got, _ := named(t, receiver, "it").GetProperty("stats"); !strings.Contains(fmt.Sprint(got), "(guint64)658000") {
		t.Errorf("statistics %v, want 658000 bytes received", got)
	}
}

// TestDrainIsInterrupted: a pause holds the end of the stream back, and NULL
// does not wait for the latency.
func TestDrainIsInterrupted(t *testing.T) {
	setup(t)
	port := port.Free(t)
	receiver := parse(t, fmt.Sprintf("srtgosrc uri=srt://127.0.0.1:%d?mode=listener&latency=60000 ! fakesink", port))
	sender := parse(t, fmt.Sprintf("fakesrc num-buffers=10 sizetype=fixed sizemax=1316 ! srtgosink uri=srt://127.0.0.1:%d name=it", port))
	for _, p := range []*gst.Pipeline{receiver, sender} {
		if err := p.SetState(gst.StatePlaying); err != nil {
			t.Fatal(err)
		}
	}
	it := named(t, sender, "it")
	for deadline := time.Now().Add(10 * time.Second); ; {
		if got, _ := it.GetProperty("stats"); strings.Contains(fmt.Sprint(got), "bytes-sent-total=(guint64)13160;") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("not sent within 10 s")
		}
	}
	for _, state := range []gst.State{gst.StatePaused, gst.StatePlaying, gst.StateNull} {
		before := time.Now()
		if err := sender.SetState(state); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(before); took > time.Second {
			t.Errorf("%v took %v", state, took)
		}
		if state != gst.StateNull && sender.GetPipelineBus().PopFiltered(gst.MessageEOS) != nil {
			t.Errorf("end of stream while the peer has yet to play it, in %v", state)
		}
	}
}
