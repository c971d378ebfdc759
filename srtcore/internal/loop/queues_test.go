package loop

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
)

func TestRing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var r ring[int]
	var model []int
	for i := range 10000 {
		switch k := rnd.IntN(10); {
		case k < 5:
			r.push(i)
			model = append(model, i)
		case k < 6:
			r.unpop(i)
			model = append([]int{i}, model...)
		case r.n > 0:
			if got := r.pop(); got != model[0] {
				t.Fatalf("step %d: pop = %d, want %d", i, got, model[0])
			}
			model = model[1:]
		}
		if r.n != len(model) {
			t.Fatalf("step %d: length %d, want %d", i, r.n, len(model))
		}
	}
}

func TestDeadlines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var d deadlines
	entries := make([]deadline, 50)
	model := make([]mono.Time, len(entries))
	for i := range model {
		model[i] = mono.Never
	}
	for step := range 20000 {
		i := rnd.IntN(len(entries))
		at := mono.Time(rnd.IntN(1000) + 1)
		if rnd.IntN(4) == 0 {
			at = mono.Never
		}
		d.set(&entries[i], at)
		model[i] = at
		want := mono.Never
		for _, m := range model {
			want = mono.Min(want, m)
		}
		if got := d.first(); got != want {
			t.Fatalf("step %d: first = %d, want %d", step, got, want)
		}
	}
}

// What is due stays in the heap until it is set anew, and what was removed
// leaves its place to the next.
func TestDeadlinesExpired(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var d deadlines
	entries := make([]deadline, 200)
	ats := make(map[*deadline]mono.Time)
	for i := range entries {
		at := mono.Time(1 + rnd.IntN(1000))
		d.set(&entries[i], at)
		ats[&entries[i]] = at
	}
	for now := mono.Time(0); now < 3000; now += mono.Time(rnd.IntN(40)) {
		seen := make(map[*deadline]bool)
		for _, e := range d.expired(now) {
			if ats[e] > now || seen[e] {
				t.Fatalf("now %d: an entry of %d, seen before: %v", now, ats[e], seen[e])
			}
			seen[e] = true
		}
		for e, at := range ats {
			if at <= now && !seen[e] {
				t.Fatalf("now %d: the entry of %d was not found", now, at)
			}
		}
		for e := range seen {
			if rnd.IntN(4) == 0 {
				d.remove(e)
			}
			ats[e] = now + 1 + mono.Time(rnd.IntN(500))
			d.set(e, ats[e])
		}
	}
	if len(d.entries) > len(entries) {
		t.Errorf("%d places for %d entries", len(d.entries), len(entries))
	}
}

func messages(pool *dgram.Pool, first, n int) []engine.Message {
	ms := make([]engine.Message, n)
	for i := range ms {
		b := pool.Get()
		b.SetPayload(fmt.Appendf(nil, "message %d", first+i))
		ms[i] = engine.Message{Buf: b, Seq: seq.Number(first + i)}
	}
	return ms
}

func TestInbox(t *testing.T) {
	pool := dgram.NewPool(1000)
	q := inbox{pool: pool, sig: newSignal()}
	if _, _, _, err := q.read(nil); err != errAgain {
		t.Errorf("read = %v, want errAgain", err)
	}
	q.put(messages(pool, 0, inboxMax))
	if q.room() != 0 || !q.starve() {
		t.Errorf("room %d in a full inbox", q.room())
	}
	b := make([]byte, 100)
	if _, _, _, err := q.read(b[:3]); err != io.ErrShortBuffer {
		t.Errorf("read = %v, want a short buffer", err)
	}
	asked := 0
	for i := range inboxMax {
		n, r, hungry, err := q.read(b)
		if err != nil || string(b[:n]) != fmt.Sprintf("message %d", i) || r.Seq != seq.Number(i) {
			t.Fatalf("message %d: %q, %v", i, b[:n], err)
		}
		if hungry {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked the loop %d times, want once", asked)
	}
	q.put(messages(pool, 0, 1))
	end := errors.New("the end")
	q.finish(end)
	q.finish(errors.New("another"))
	if _, _, _, err := q.read(b); err != nil {
		t.Errorf("the last message is lost: %v", err)
	}
	if _, _, _, err := q.read(b); err != end {
		t.Errorf("read = %v, want the first end", err)
	}
}

func TestInboxClose(t *testing.T) {
	pool := dgram.NewPool(1000)
	q := inbox{pool: pool, sig: newSignal()}
	q.put(messages(pool, 0, 10))
	q.close(ErrClosed)
	if _, taken := q.put(messages(pool, 10, 1)); taken {
		t.Error("a closed inbox takes messages")
	}
	if _, _, _, err := q.read(nil); err != ErrClosed {
		t.Errorf("read = %v", err)
	}
	if q.arm() {
		t.Error("a reader would wait for ever")
	}
}

func TestOutbox(t *testing.T) {
	q := outbox{sig: newSignal(), max: 10}
	ps := make([]parcel, 25)
	for i := range ps {
		ps[i].origin = mono.Time(i)
	}
	n, announce, err := q.put(ps)
	if n != 10 || !announce || err != nil {
		t.Fatalf("put = %d, %v, %v", n, announce, err)
	}
	if n, _, err := q.put(ps); n != 0 || err != errAgain {
		t.Errorf("put into a full outbox = %d, %v", n, err)
	}
	if !q.arm() {
		t.Error("a writer would not wait")
	}
	got, left := q.take(nil, 4)
	if len(got) != 4 || !left || len(q.sig.ch) != 1 {
		t.Errorf("took %d, left %v, %d signals", len(got), left, len(q.sig.ch))
	}
	q.disarm()
	q.untake(got[1:])
	if got, left = q.take(nil, 100); len(got) != 9 || left || got[0].origin != 1 || got[8].origin != 9 {
		t.Errorf("took %v", got)
	}
	for i := range 3 {
		if _, announce, _ := q.put(ps[:1]); announce != (i == 0) {
			t.Errorf("message %d after it was emptied: announced %v", i, announce)
		}
	}
	q.finish(ErrClosed)
	if _, _, err := q.put(ps); err != ErrClosed {
		t.Errorf("put after the end = %v", err)
	}
}

// A ticking loop is woken by the first writer once outboxes are to be collected,
// and at once by a command, by an inbox that holds messages up, and by a writer
// that waits for room: at the next tick they would come at a fraction of their
// rate.
func TestMailboxTicks(t *testing.T) {
	woken := 0
	m := mailbox{wake: func() { woken++ }}
	want := func(what string, n int) {
		t.Helper()
		if woken != n {
			t.Errorf("%s: woken %d times, want %d", what, woken, n)
		}
	}
	tick := func() {
		m.collect(nil, nil)
		woken = 0
		m.tick(1000)
	}
	tick()
	m.announce(nil, 900)
	want("a writer before its time", 0)
	m.announce(nil, 1000)
	m.announce(nil, 1001)
	want("two writers in time", 1)
	tick()
	m.post(func() {})
	want("a command", 1)
	tick()
	m.announce(nil, mono.Never)
	want("an inbox with room again", 1)
	tick()
	m.nudge()
	m.nudge()
	want("two writers that wait", 1)
	m.collect(nil, nil)
	m.nudge()
	want("a loop that is awake", 1)
}

func TestMailbox(t *testing.T) {
	woken := 0
	m := mailbox{wake: func() { woken++ }}
	m.announce(nil, 0)
	if m.sleep() {
		t.Error("sleeps although there is mail")
	}
	if _, ready := m.collect(nil, nil); len(ready) != 1 {
		t.Errorf("collected %v", ready)
	}
	if !m.sleep() {
		t.Error("does not sleep")
	}
	for range 3 {
		m.post(func() {})
		m.announce(nil, 0)
		m.pump()
	}
	if woken != 1 {
		t.Errorf("woken %d times, want once a sleep", woken)
	}
	commands, ready := m.close(nil, nil)
	if len(commands) != 3 || len(ready) != 3 || m.post(func() {}) {
		t.Errorf("%d commands, %d ready", len(commands), len(ready))
	}
}
