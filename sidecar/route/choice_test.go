package route

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// events collects what a route tells.
type events struct {
	mu  sync.Mutex
	all []Event
}

func (e *events) add(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

func (e *events) of(kind string) (found []Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.all {
		if ev.Kind == kind {
			found = append(found, ev)
		}
	}
	return found
}

func spares(e ...endpoint.SourceEnd) []endpoint.SourceEnd { return e }

// named is a fake source with a URL of its own.
type named struct {
	*fakeSource
	url string
}

func (n named) URL() string { return n.url }

// TestTheScriptOfAChoice runs a choice among three sources on a clock of its own.
func TestTheScriptOfAChoice(t *testing.T) {
	const lost = -1
	type step struct {
		ms     int
		source int
		used   bool // the message goes on; of lost, ignored
		lost   int
	}
	msg := func(ms, source int, used bool) step { return step{ms, source, used, 0} }
	gone := func(ms, source int) step { return step{ms, lost, false, source} }
	for name, c := range map[string]struct {
		holdOff time.Duration
		steps   []step
		events  []string
	}{
		"a spare is not used while the first lives": {0, []step{
			msg(0, 0, true), msg(10, 1, false), msg(900, 0, true), msg(1800, 1, false),
		}, nil},
		"silence": {0, []step{
			msg(0, 0, true), msg(500, 1, false), msg(1000, 1, false), msg(1001, 1, true), msg(1100, 1, true),
		}, []string{"from a to b: nothing came from it for 1.001s"}},
		"a lost session need not be waited for": {0, []step{
			msg(0, 0, true), msg(10, 1, false), gone(20, 0), msg(30, 1, true),
		}, []string{"from a to b: its connection has ended"}},
		"the better spare is used": {0, []step{
			msg(0, 0, true), msg(10, 2, false), msg(20, 1, false), gone(30, 0), msg(40, 2, false), msg(50, 1, true), msg(60, 2, false),
		}, []string{"from a to b"}},
		"the third when the second is silent too": {0, []step{
			msg(0, 0, true), gone(10, 0), msg(2000, 2, true),
		}, []string{"from a to c"}},
		"back after the hold-off": {0, []step{
			gone(0, 0), msg(10, 1, true), msg(100, 0, false), msg(900, 1, true), msg(1000, 0, false), msg(1900, 0, false),
			msg(1900, 1, true), msg(2800, 0, false), msg(2800, 1, true), msg(3700, 0, false), msg(3700, 1, true),
			msg(4600, 0, false), msg(4600, 1, true), msg(5099, 0, false), msg(5100, 0, true), msg(5100, 1, false),
		}, []string{"from a to b", "from b to a: the preferred one has been back for 5s"}},
		"a pause begins the hold-off anew": {2 * time.Second, []step{
			gone(0, 0), msg(10, 1, true), msg(100, 0, false), msg(900, 1, true), msg(1000, 0, false), msg(1800, 1, true),
			msg(2001, 0, false), msg(2200, 1, true), msg(3000, 0, false), msg(3100, 1, true), msg(3990, 0, false), msg(4001, 0, true),
		}, []string{"from a to b", "from b to a"}},
		"never back while the other lives": {-1, []step{
			gone(0, 0), msg(10, 1, true), msg(100, 0, false), msg(900, 1, true), msg(1000, 0, false), msg(99_000, 0, true),
		}, []string{"from a to b", "from b to a: nothing came"}},
		"no hold-off for one that is needed": {0, []step{
			gone(0, 0), msg(10, 1, true), msg(20, 0, false), gone(30, 1), msg(40, 0, true),
		}, []string{"from a to b", "from b to a: its connection has ended"}},
		"nobody has anything": {0, []step{
			gone(0, 0), gone(0, 1), gone(0, 2), msg(100, 0, true),
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var told events
			r := New(Config{
				Source: named{newFakeSource(live), "a"}, Spares: spares(named{newFakeSource(live), "b"}, named{newFakeSource(live), "c"}),
				HoldOff: c.holdOff, OnEvent: told.add,
			})
			for i, s := range c.steps {
				now := r.started.Add(time.Duration(s.ms) * time.Millisecond)
				if s.source == lost {
					r.choice.lost(s.lost)
				} else if used := r.choice.take(s.source, now); used != s.used {
					t.Errorf("step %d, at %d ms: source %d used: %v, want %v", i, s.ms, s.source, used, s.used)
				}
			}
			got := told.of("failover")
			if len(got) != len(c.events) {
				t.Fatalf("%d changes: %+v, want %d", len(got), got, len(c.events))
			}
			for i, want := range c.events {
				if !strings.Contains(got[i].Text, want) || got[i].Level != Warn {
					t.Errorf("%+v, want %q", got[i], want)
				}
			}
		})
	}
}

func TestFailOverAndBack(t *testing.T) {
	a, b, out := newFakeSource(live), newFakeSource(live), upSink()
	var told events
	inA, inB := make(chan string), make(chan string)
	a.sessions <- inA
	b.sessions <- inB
	r := start(t, Config{
		Source: named{a, "srt://a"}, Spares: spares(named{b, "srt://b"}), Outputs: outputs(out),
		FailoverAfter: time.Minute, HoldOff: time.Nanosecond, OnEvent: told.add,
	})
	waitFor(t, func() bool { return r.sources[0].isUp() && r.sources[1].isUp() })
	inA <- "a1."
	out.wait(t, 0, "a1.")
	inB <- "b1." // thrown away
	inB <- ""    // by the time that this is read, it was
	close(inA)
	waitFor(t, func() bool { return !r.sources[0].isUp() })
	inB <- "b2."
	out.wait(t, 0, "a1.b2.")
	if s := r.Snapshot(); s.Source.URL != "srt://b" || len(s.Spares) != 1 || s.Spares[0].URL != "srt://a" {
		t.Errorf("source %q, spares %+v", s.Source.URL, s.Spares)
	}
	inA = make(chan string)
	a.sessions <- inA
	inA <- "a2." // it is steady from here on, and not used yet
	inA <- "a3."
	out.wait(t, 0, "a1.b2.a3.")
	r.stop()
	if err := r.result(t); err != nil {
		t.Error(err)
	}
	if n := len(told.of("failover")); n != 2 {
		t.Errorf("%d changes were told, want 2: %+v", n, told.all)
	}
}

// TestChangesUnderLoadTearNothing has two sources send all the time while one
// and then the other is lost, again and again.
func TestChangesUnderLoadTearNothing(t *testing.T) {
	a, b, out := newFakeSource(live), newFakeSource(listen), upSink()
	r := start(t, Config{
		Source: named{a, "a"}, Spares: spares(named{b, "b"}), Outputs: outputs(out), Queue: 1 << 30,
		FailoverAfter: time.Hour, HoldOff: -1,
	})
	var sent [2]int
	var in [2]chan string
	send := func(i int) {
		sent[i]++
		in[i] <- fmt.Sprintf("%c%d.", 'a'+i, sent[i])
	}
	ends := []*fakeSource{a, b}
	used := ""
	for range 6 {
		for i, e := range ends {
			if in[i] == nil {
				in[i] = feed(e)
			}
			waitFor(t, r.sources[i].isUp)
		}
		var wg sync.WaitGroup
		for i := range in {
			wg.Go(func() {
				for range 200 {
					send(i)
				}
			})
		}
		wg.Wait()
		waitFor(t, func() bool { return len(in[0]) == 0 && len(in[1]) == 0 })
		now := r.choice.current()
		used += string(rune('a' + now))
		close(in[now])
		in[now] = nil
		waitFor(t, func() bool { return !r.sources[now].isUp() })
		waitFor(t, func() bool { send(1 - now); return r.choice.current() == 1-now }) // a message is needed to go on with
	}
	r.stop()
	if err := r.result(t); err != nil {
		t.Error(err)
	}
	if used != "ababab" {
		t.Errorf("in use in turn: %s", used)
	}
	wantWhole(t, out.text(0), r.Snapshot().Media.Messages)
}

// wantWhole checks that each message is one that a source has sent, that none
// came twice, and that those of a source kept their order.
func wantWhole(t *testing.T, got string, published uint64) {
	t.Helper()
	msgs := strings.Split(strings.TrimSuffix(got, "."), ".")
	if uint64(len(msgs)) != published || published < 1200 {
		t.Errorf("%d messages came out of %d", len(msgs), published)
	}
	last := map[byte]int{}
	for _, m := range msgs {
		var n int
		if _, err := fmt.Sscanf(m[1:], "%d", &n); err != nil || !slices.Contains([]byte("ab"), m[0]) || m != fmt.Sprintf("%c%d", m[0], n) {
			t.Fatalf("torn: %q", m)
		}
		if n <= last[m[0]] {
			t.Fatalf("%s after %d", m, last[m[0]])
		}
		last[m[0]] = n
	}
}

func TestARouteEndsWithItsLastSource(t *testing.T) {
	a, b, out := newFakeSource(endpoint.Traits{}), newFakeSource(endpoint.Traits{}), upSink()
	inA, inB := feed(a, "1"), feed(b)
	r := start(t, Config{Source: a, Spares: spares(b), Outputs: outputs(out)})
	out.wait(t, 0, "1")
	close(inA)
	waitFor(t, func() bool { return !r.sources[0].isUp() })
	inB <- "2"
	out.wait(t, 0, "12")
	close(inB)
	if err := r.result(t); err != nil {
		t.Error(err)
	}
}

func TestASourceThatIsRefusedLeavesTheRouteToTheOther(t *testing.T) {
	a, b, out := newFakeSource(live), newFakeSource(live), upSink()
	var told events
	a.openErr <- badKey
	inB := feed(b)
	r := start(t, Config{Source: a, Spares: spares(b), Outputs: outputs(out), FailoverAfter: time.Nanosecond, OnEvent: told.add})
	waitFor(t, func() bool { return len(told.of("failed")) == 1 })
	inB <- "1"
	out.wait(t, 0, "1")
	if s := r.Snapshot(); s.Spares[0].State != Failed || s.Source.State != Up {
		t.Errorf("%+v", s)
	}
}
