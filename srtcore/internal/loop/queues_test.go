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
	m := mailbox{wake: func() {}}
	c := &Conn{}
	c.out.sig, c.out.max = newSignal(), 10
	bufs := make([]*dgram.Buf, 25)
	if n, err := m.put(c, bufs, 5); n != 10 || err != nil {
		t.Fatalf("put = %d, %v", n, err)
	}
	if n, err := m.put(c, bufs, 5); n != 0 || err != errAgain {
		t.Errorf("put into a full outbox = %d, %v", n, err)
	}
	if !c.out.arm() {
		t.Error("a writer would not wait")
	}
	var got mail
	m.collect(&got)
	if len(got.parcels) != 10 || got.parcels[9].conn != c || got.parcels[9].origin != 5 {
		t.Errorf("collected %v", got.parcels)
	}
	if n, _ := m.put(c, bufs, 6); n != 0 {
		t.Error("there is room for what has only been collected")
	}
	c.out.release(4)
	if len(c.out.sig.ch) != 1 {
		t.Error("the writer was not woken")
	}
	c.out.disarm()
	if c.out.arm() {
		t.Error("a writer would wait although there is room")
	}
	if n, err := m.put(c, bufs, 7); n != 4 || err != nil {
		t.Errorf("put = %d, %v", n, err)
	}
	m.finish(c, ErrClosed)
	m.finish(c, errAgain)
	if _, err := m.put(c, bufs, 8); err != ErrClosed {
		t.Errorf("put after the end = %v", err)
	}
	if c.out.arm() {
		t.Error("a writer would wait after the end")
	}
}

func TestMailbox(t *testing.T) {
	woken := 0
	m := mailbox{wake: func() { woken++ }}
	m.announce(nil)
	if m.sleep() {
		t.Error("sleeps although there is mail")
	}
	var got mail
	if m.collect(&got); len(got.ready) != 1 {
		t.Errorf("collected %v", got)
	}
	got.reset()
	if !m.sleep() {
		t.Error("does not sleep")
	}
	for range 3 {
		m.post(func() {})
		m.announce(nil)
		m.pump()
	}
	if woken != 1 {
		t.Errorf("woken %d times, want once a sleep", woken)
	}
	m.close(&got)
	if len(got.commands) != 3 || len(got.ready) != 3 || m.post(func() {}) {
		t.Errorf("%d commands, %d ready", len(got.commands), len(got.ready))
	}
}

// A ticking loop is woken by the first writer after messages fall due for
// collection, and by any command.
func TestMailboxTicks(t *testing.T) {
	woken := 0
	m := mailbox{wake: func() { woken++ }}
	c := &Conn{}
	c.out.max = 100
	put := func(at mono.Time) { _, _ = m.put(c, make([]*dgram.Buf, 1), at) }
	var got mail
	for range 2 {
		m.tick(1000)
		put(900)
		m.announce(c)
		if woken != 0 {
			t.Fatal("woken too early")
		}
		put(1000)
		put(1001)
		if woken != 1 {
			t.Errorf("woken %d times, want once", woken)
		}
		woken = 0
		m.collect(&got)
		got.reset()
	}
	m.tick(1000)
	m.post(func() {})
	if woken != 1 {
		t.Error("a command waits for the tick")
	}
}

func TestMailGivesAPeakBack(t *testing.T) {
	m := mailbox{wake: func() {}}
	c := &Conn{}
	c.out.max = 2 * keptParcels
	var got mail
	_, _ = m.put(c, make([]*dgram.Buf, 2*keptParcels), 0)
	m.collect(&got)
	got.reset()
	if cap(got.parcels) > keptParcels {
		t.Errorf("room for %d messages is kept", cap(got.parcels))
	}
}
