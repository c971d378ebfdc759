package route

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/hub"
)

// ids are those of all sessions of a route.
func (r *running) ids() (all []string) {
	s := r.Snapshot()
	for _, e := range append(append(s.Spares, s.Source), s.Outputs...) {
		for _, c := range e.Sessions {
			all = append(all, c.ID)
		}
	}
	return all
}

func TestKickEndsOneSession(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(listen)
	var told events
	in := feed(src)
	out.answers <- nil
	out.answers <- nil
	r := start(t, Config{Source: src, Outputs: outputs(out), OnEvent: told.add})
	waitFor(t, func() bool { return len(r.ids()) == 3 })
	in <- "1"
	first, second := out.wait(t, 0, "1"), out.wait(t, 1, "1")
	id := r.Snapshot().Outputs[0].Sessions[0].ID
	if r.Kick("c0") || !r.Kick(id) {
		t.Errorf("kick of nobody, or of %s", id)
	}
	waitFor(t, func() bool { return len(r.ids()) == 2 })
	if r.Kick(id) {
		t.Error("it was there twice")
	}
	stayed := 0
	select {
	case <-first.done:
		stayed = 1
	case <-second.done:
	}
	in <- "2"
	out.wait(t, stayed, "12")
	if k := told.of("kicked"); len(k) != 1 || !strings.Contains(k[0].Text, id) {
		t.Errorf("told: %+v", told.all)
	}
	waitFor(t, func() bool { return len(told.of("player-left")) == 1 })
	if e := told.of("player-left")[0]; e.Level != Warn || !strings.Contains(e.Text, errKicked.Error()) {
		t.Errorf("%+v", e)
	}
	if s := r.Snapshot(); s.Outputs[0].State != Up || s.Source.State != Up {
		t.Errorf("%+v", s)
	}
}

func TestAKickedEndThatDialsConnectsAgain(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(live)
	feed(src)
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	out.answers <- nil
	waitFor(t, func() bool { return len(r.ids()) == 2 })
	old := r.ids()
	for _, id := range old {
		if !r.Kick(id) {
			t.Errorf("%s is not there", id)
		}
	}
	out.answers <- nil
	in := feed(src)
	waitFor(t, func() bool {
		now := r.ids()
		return len(now) == 2 && now[0] != old[0] && now[1] != old[1]
	})
	in <- "1"
	out.wait(t, 1, "1")
	if e := r.Snapshot().Outputs[0].Error; e != errKicked.Error() {
		t.Errorf("last error %q", e)
	}
}

// TestKickAtAnyMoment kicks callers in the moment in which they come.
func TestKickAtAnyMoment(t *testing.T) {
	const callers = 300
	src, out := newFakeSource(live), newFakeSink(listen)
	in := feed(src)
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case in <- "x":
			case <-stop:
				return
			}
		}
	})
	kicked := 0
	for n := 0; kicked < callers; {
		for ; n < callers && n < kicked+4; n++ {
			select {
			case out.answers <- nil:
			default:
			}
		}
		for _, s := range r.Snapshot().Outputs[0].Sessions {
			if r.Kick(s.ID) {
				kicked++
			}
		}
		n = min(n, kicked)
	}
	close(stop)
	wg.Wait()
	r.stop()
	if err := r.result(t); err != nil {
		t.Error(err)
	}
}

func TestNumbersOfSessionsAreUniqueAcrossRoutes(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		src, out := newFakeSource(live), upSink()
		feed(src)
		r := start(t, Config{Source: src, Outputs: outputs(out)})
		waitFor(t, func() bool { return len(r.ids()) == 2 })
		for _, id := range r.ids() {
			if _, err := strconv.Atoi(id[1:]); seen[id] || id[0] != 'c' || err != nil {
				t.Errorf("%q", id)
			}
			seen[id] = true
		}
	}
}

func TestAPlayerThatIsTooSlowIsDisconnected(t *testing.T) {
	src, slow, fine := newFakeSource(live), newFakeSink(listen), newFakeSink(listen)
	slow.gate = make(chan struct{}) // never opened
	slow.answers <- nil
	fine.answers <- nil
	var told events
	in := make(chan string) // so that the healthy one keeps up
	src.sessions <- in
	r := start(t, Config{Source: src, Outputs: outputs(slow, fine), Queue: 100, SlowAfter: 200 * time.Millisecond, OnEvent: told.add})
	waitFor(t, func() bool { return len(r.ids()) == 3 })
	id, begun := r.Snapshot().Outputs[0].Sessions[0].ID, time.Now()
	want := strings.Builder{}
	// Bursts with pauses longer than the watch's tick: no recovery in between.
	for len(told.of("slow")) == 0 && time.Since(begun) < 10*time.Second {
		for range 20 {
			in <- "0123456789"
			want.WriteString("0123456789")
			fine.wait(t, 0, want.String())
		}
		<-time.After(60 * time.Millisecond)
	}
	if e := told.of("slow"); len(e) != 1 || e[0].Level != Warn || !strings.Contains(e[0].Text, id) {
		t.Fatalf("told: %+v", told.all)
	}
	if d := time.Since(begun); d < 200*time.Millisecond {
		t.Errorf("after %v", d)
	}
	waitFor(t, func() bool { return len(r.Snapshot().Outputs[0].Sessions) == 0 })
	in <- "end"
	fine.wait(t, 0, want.String()+"end")
	s := r.Snapshot()
	if s.Outputs[0].Queue.Dropped == 0 || s.Outputs[1].Queue.Dropped != 0 || s.Outputs[0].Error != errSlow.Error() {
		t.Errorf("%+v", s.Outputs)
	}
}

func TestAPlayerThatRecoversStays(t *testing.T) {
	h := newSessionForTest()
	at := time.Unix(1000, 0)
	for i := range 100 {
		if i%5 == 0 {
			h.overflow()
		} else {
			h.drain()
		}
		if at = at.Add(100 * time.Millisecond); h.losing(at, time.Second) {
			t.Fatalf("disconnected after %d", i)
		}
	}
	h.overflow()
	for i := range 11 {
		if h.losing(at.Add(time.Duration(i)*100*time.Millisecond), time.Second) != (i == 10) {
			t.Errorf("a full queue without a new loss, %d00 ms", i)
		}
	}
}

func TestMaxPlayers(t *testing.T) {
	const limit, callers = 5, 60
	src, a, b := newFakeSource(live), newFakeSink(listen), newFakeSink(listen)
	var told events
	in := feed(src)
	for range callers / 2 {
		a.answers <- nil
		b.answers <- nil
	}
	r := start(t, Config{Source: src, Outputs: outputs(a, b), MaxPlayers: limit, OnEvent: told.add})
	waitFor(t, func() bool { return len(told.of("refused")) == callers-limit })
	waitFor(t, func() bool { return len(r.ids()) == 1+limit })
	if e := told.of("refused")[0]; !strings.Contains(e.Text, "5 players") || !strings.Contains(e.Text, "max-players") {
		t.Errorf("%+v", e)
	}
	s := r.Snapshot()
	for _, o := range s.Outputs {
		for _, c := range o.Sessions {
			r.Kick(c.ID)
		}
	}
	waitFor(t, func() bool { r.fan.mu.Lock(); defer r.fan.mu.Unlock(); return r.fan.playing == 0 })
	if n := len(told.of("player-left")); n != limit {
		t.Errorf("%d are said to have left", n)
	}
	for range limit {
		a.answers <- nil
	}
	waitFor(t, func() bool { return len(r.ids()) == 1+limit })
	in <- "1"
	waitFor(t, func() bool { q := r.Snapshot().Outputs; return q[0].Queue.Read+q[1].Queue.Read == limit })
}

// TestPlayersThatLeaveEndNothing is C23: whoever leaves, and however, the encoder
// goes on.
func TestPlayersThatLeaveEndNothing(t *testing.T) {
	src, out := newFakeSource(live), newFakeSink(listen)
	in := feed(src)
	r := start(t, Config{Source: src, Outputs: outputs(out)})
	for i := range 5 {
		out.answers <- nil
		waitFor(t, func() bool { return len(r.Snapshot().Outputs[0].Sessions) == 1 })
		in <- "x"
		s := out.wait(t, i, "x")
		if i%2 == 0 {
			s.lose()
		} else {
			r.Kick(r.Snapshot().Outputs[0].Sessions[0].ID)
		}
		waitFor(t, func() bool { return len(r.Snapshot().Outputs[0].Sessions) == 0 })
		in <- "y" // nobody is there: dropped, not queued
		waitFor(t, func() bool { return r.Snapshot().Media.Unheard == uint64(i+1) })
	}
	out.answers <- errors.New("accept failed")
	out.answers <- nil
	waitFor(t, func() bool { return len(r.Snapshot().Outputs[0].Sessions) == 1 })
	in <- "z"
	out.wait(t, 5, "z")
	if s := r.Snapshot().Source; s.Opened != 1 || s.State != Up {
		t.Errorf("the source: %+v", s)
	}
}

// sessionForTest is a session with a queue of two messages.
type sessionForTest struct {
	*session
	publish func()
}

func newSessionForTest() sessionForTest {
	h := hub.New()
	s := &session{queue: h.Join(20, nil)}
	return sessionForTest{s, func() { h.Publish([]byte("0123456789"), time.Time{}) }}
}

func (s sessionForTest) overflow() {
	for range 3 {
		s.publish()
	}
}

func (s sessionForTest) drain() {
	for s.queue.Stats().Queued > 0 {
		var dst [1]*hub.Payload
		if n, _ := s.queue.Next(context.Background(), dst[:]); n == 1 {
			dst[0].Release()
		}
	}
}
