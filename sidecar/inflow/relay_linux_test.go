package inflow

import (
	"testing"
	"time"
)

// waiter reads c in a goroutine of its own and holds what it got until told to
// go on.
type waiter struct {
	c    *Conn
	got  chan string
	goOn chan struct{}
}

func newWaiter(t *testing.T, c *Conn) *waiter {
	w := &waiter{c, make(chan string, 1), make(chan struct{})}
	go func() {
		b := make([]byte, 100)
		for {
			n, err := c.Read(b)
			if err != nil {
				close(w.got)
				return
			}
			w.got <- string(b[:n])
			<-w.goOn
		}
	}()
	w.settle(t)
	return w
}

// settle returns when the reader waits.
func (w *waiter) settle(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		w.c.mu.Lock()
		waits := w.c.waits
		w.c.mu.Unlock()
		if waits {
			return
		}
	}
	t.Fatal("it does not wait")
}

func (w *waiter) want(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-w.got:
		if got != want {
			t.Fatalf("read %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("not woken for %q", want)
	}
}

func (w *waiter) asleep(t *testing.T) {
	t.Helper()
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if !w.c.waits {
		t.Error("woken too early")
	}
}

func TestOneWakesTheNext(t *testing.T) {
	var r Reader
	var ws []*waiter
	var conns []*Conn
	for range 3 {
		tcp, c := pair(t, &r)
		onTick(t, c)
		ws, conns = append(ws, newWaiter(t, c)), append(conns, c)
		tcp.Write([]byte("one"))
		until(t, c)
		defer c.Close()
	}
	r.relay.start(conns)
	ws[0].want(t, "one")
	ws[1].asleep(t)
	ws[2].asleep(t)
	ws[0].goOn <- struct{}{}
	ws[1].want(t, "one")
	ws[2].asleep(t)

	// The second is held up; the next tick does not wait for it.
	r.relay.start(conns)
	ws[2].want(t, "one")
	for _, w := range ws[1:] {
		w.goOn <- struct{}{}
	}
	for _, w := range ws {
		w.settle(t)
	}
}
