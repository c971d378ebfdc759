package gst

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// TestCallers is case C21: twenty join at once, ten leave, five of them without
// a word; nothing is fed for a while; twenty more join. Signals balance, totals
// never go down, and nobody else is touched: what a caller gets has no hole.
func TestCallers(t *testing.T) {
	long(t)
	needGStreamer(t)
	h := startHost(t)
	port := port.Free(t)
	in, sent := writeInput(t, 7, 12_000) // two minutes
	h.play("sink", ours.fill("filesrc location={in} blocksize=1316 ! identity datarate=131600 sync=true ! "+
		"{sink} name=srt wait-for-connection=false uri=srt://127.0.0.1:"+itoa(port)+"?mode=listener&peeridletimeo=2000&latency=1000", "{in}", in))
	stop := watchStats(t, h)
	call := func(n int) (out []*proctest.Process, got []*collector) {
		for range n {
			c := newCollector()
			out, got = append(out, launch(t, c, stock.fill("{src} uri=srt://127.0.0.1:"+itoa(port)+" ! "+dump))), append(got, c)
		}
		return out, got
	}
	procs, got := call(20)
	h.waitN("not all twenty joined", 20, signal("sink", "caller-added"))
	proctest.Eventually(t, "not everybody gets data", func() bool { return all(got, func(c *collector) bool { return c.size() > 20*message }) })
	for i, p := range procs[:10] {
		if i < 5 {
			p.Stop() // says goodbye
		} else {
			p.Signal(syscall.SIGKILL)
		}
	}
	h.state("sink", "PAUSED") // and nothing is fed
	h.waitN("those that left are still there", 10, signal("sink", "caller-removed"))
	h.state("sink", "PLAYING")
	_, more := call(20)
	h.waitN("not all of the next twenty joined", 40, signal("sink", "caller-added"))
	rest := append(more, got[10:]...)
	sizes := make([]int, len(rest))
	for i, c := range rest {
		sizes[i] = c.size()
	}
	proctest.Eventually(t, "somebody gets no data", func() bool {
		for i, c := range rest {
			if c.size() < sizes[i]+20*message {
				return false
			}
		}
		return true
	})
	stop()
	added, removed := h.count(signal("sink", "caller-added")), h.count(signal("sink", "caller-removed"))
	if n := len(h.stats("sink").callers(t)); added-removed != n || n != 30 {
		t.Errorf("%d added, %d removed, %d in the statistics, want 30", added, removed, n)
	}
	h.state("sink", "NULL")
	if a, r := h.count(signal("sink", "caller-added")), h.count(signal("sink", "caller-removed")); a != r {
		t.Errorf("after NULL: %d added, %d removed", a, r)
	}
	for _, c := range rest {
		wantPart(t, c.bytes(), sent, part{late: len(sent), tail: len(sent)})
	}
}

func all(cs []*collector, ok func(*collector) bool) bool {
	for _, c := range cs {
		if !ok(c) {
			return false
		}
	}
	return true
}

// watchStats reads statistics all the time, as a monitor does, and wants the
// total never to go down.
func watchStats(t *testing.T, h *host) (stop func()) {
	t.Helper()
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		last := 0.
		for {
			select {
			case <-quit:
				return
			case <-time.After(100 * time.Millisecond):
			}
			id := h.tell("stats", "sink", args{"aside": true})
			a := h.answer(id, "stats")
			if n := a.Stats.num("bytes-sent-total"); n < last {
				t.Errorf("bytes-sent-total went from %.0f to %.0f", last, n)
			} else {
				last = n
			}
		}
	}()
	return func() { close(quit); <-done }
}

// TestSlowCaller: one caller that stops reading its socket does not slow the
// others down.
func TestSlowCaller(t *testing.T) {
	long(t)
	needGStreamer(t)
	for _, how := range []string{"drop", "disconnect"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := startHost(t)
			port := port.Free(t)
			in, sent := writeInput(t, 8, 24_000) // one minute
			h.play("sink", ours.fill("filesrc location={in} blocksize=1316 ! identity datarate=526400 sync=true ! {sink} name=srt "+
				"wait-for-connection=false caller-backlog=200 slow-caller="+how+" uri=srt://127.0.0.1:"+itoa(port)+"?mode=listener&peeridletimeo=20000&latency=500", "{in}", in))
			good, slow := newCollector(), newCollector()
			launch(t, good, stock.fill("{src} uri=srt://127.0.0.1:"+itoa(port)+" ! "+dump))
			h.wait("the first caller did not join", signal("sink", "caller-added"))
			s := launch(t, slow, stock.fill("{src} uri=srt://127.0.0.1:"+itoa(port)+" ! "+dump))
			h.waitN("the second caller did not join", 2, signal("sink", "caller-added"))
			proctest.Eventually(t, "no data", func() bool { return good.size() > 0 && slow.size() > 0 })
			s.Signal(syscall.SIGSTOP)
			defer func() { s.Signal(syscall.SIGCONT) }()
			before, began := good.size(), time.Now()
			if how == "disconnect" {
				h.wait("the slow caller was not removed", signal("sink", "caller-removed"))
			}
			time.Sleep(2*time.Second - time.Since(began))
			took := time.Since(began).Seconds()
			if rate := float64(good.size()-before) / took; rate < 0.9*526400 {
				t.Errorf("the other caller gets %.0f bytes a second, want 526400", rate)
			}
			wantPart(t, good.bytes(), sent, part{late: len(sent), tail: len(sent)})
		})
	}
}

// TestMaxCallers: one more than allowed is refused, with a reason, and there is
// room again when one has left.
func TestMaxCallers(t *testing.T) {
	needGStreamer(t)
	h := startHost(t)
	port := port.Free(t)
	h.play("sink", ours.fill(fixed+" ! {sink} name=srt wait-for-connection=false max-callers=2 uri=srt://:"+itoa(port)+"?mode=listener"))
	for i := 1; i <= 2; i++ {
		h.play(fmt.Sprint("recv", i), ours.fill("{src} name=srt uri=srt://127.0.0.1:"+itoa(port)+" ! fakesink async=false sync=false"))
		h.waitN("not added", i, signal("sink", "caller-added"))
	}
	h.play("recv3", ours.fill("{src} name=srt auto-reconnect=false uri=srt://127.0.0.1:"+itoa(port)+" ! fakesink async=false sync=false"))
	e := h.wait("the third was not refused", busMessage("recv3", "error"))
	wantReason(t, e)
	h.do("free", "recv3", nil)
	h.do("free", "recv1", nil)
	h.wait("not removed", signal("sink", "caller-removed"))
	h.play("recv4", ours.fill("{src} name=srt uri=srt://127.0.0.1:"+itoa(port)+" ! fakesink async=false sync=false"))
	h.waitN("no room after one left", 3, signal("sink", "caller-added"))
}

// wantReason wants the reason of a refusal by name and by code in the details.
func wantReason(t *testing.T, e event) {
	t.Helper()
	if e.Details == nil {
		t.Errorf("no details in %q %q", e.Text, e.Debug)
		return
	}
	name, _ := e.Details.Fields["reason"].(string)
	code, _ := e.Details.Fields["code"].(float64)
	if name == "" || code == 0 {
		t.Errorf("details %v of %q: no reason by name and code", e.Details.Fields, e.Text)
	}
}

// TestSecondCaller: a listening source refuses a second caller with a reason,
// or lets it take over.
func TestSecondCaller(t *testing.T) {
	needGStreamer(t)
	for _, policy := range []string{"refuse", "replace"} {
		t.Run(policy, func(t *testing.T) {
			h := startHost(t)
			port := port.Free(t)
			h.play("src", ours.fill("{src} name=srt keep-listening=true caller-policy="+policy+" uri=srt://:"+itoa(port)+"?mode=listener ! fakesink async=false sync=false"))
			sink := ours.fill(fixed + " ! {sink} name=srt auto-reconnect=false uri=srt://127.0.0.1:" + itoa(port))
			h.play("first", sink)
			h.wait("the first was not added", signal("src", "caller-added"))
			h.play("second", sink)
			if policy == "replace" {
				h.waitN("the second was not added", 2, signal("src", "caller-added"))
				h.wait("the first was not removed", signal("src", "caller-removed"))
				return
			}
			wantReason(t, h.wait("the second was not refused", busMessage("second", "error")))
			before := h.stats("src").num("bytes-received-total")
			proctest.Eventually(t, "the first is not served any more", func() bool { return h.stats("src").num("bytes-received-total") > before+10*message })
		})
	}
}
