package inflow

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"net"
	"os"
	"testing"
	"time"
)

const patience = 10 * time.Second

// pair returns a writer and the Conn that it is connected with.
func pair(t *testing.T, r *Reader) (*net.TCPConn, *Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln = r.Listener(ln)
	defer ln.Close()
	w, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return w.(*net.TCPConn), c.(*Conn)
}

// onTick puts c on the tick, which the test is.
func onTick(t *testing.T, c *Conn) {
	t.Helper()
	c.Feed(true)
	if !c.enter() {
		t.Fatal("it cannot be read on the tick")
	}
}

// until looks at c until it brought something.
func until(t *testing.T, c *Conn) (stays bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if came, stays := c.look(time.Now()); came {
			return stays
		}
	}
	t.Fatal("nothing came")
	return false
}

func TestTheTickReadsForRead(t *testing.T) {
	w, c := pair(t, &Reader{})
	onTick(t, c)
	w.Write([]byte("hello"))
	if !until(t, c) {
		t.Error("it left the tick")
	}
	b := make([]byte, 3)
	for _, want := range []string{"hel", "lo"} {
		if n, err := c.Read(b); err != nil || string(b[:n]) != want {
			t.Errorf("%q, %v, want %q", b[:n], err, want)
		}
	}
	w.CloseWrite()
	if until(t, c) {
		t.Error("an ended connection stays on the tick")
	}
	for range 2 {
		if n, err := c.Read(b); n != 0 || err != io.EOF {
			t.Errorf("at the end: %d, %v", n, err)
		}
	}
}

func TestBytesAreDatedByTheirArrival(t *testing.T) {
	w, c := pair(t, &Reader{})
	onTick(t, c)
	// The kernel begins to note arrivals some time after the first socket asks.
	for end := time.Now().Add(patience); ; {
		before, at, read := dateOne(t, w, c)
		if at.Before(before.Add(-time.Millisecond)) {
			t.Fatalf("dated %v before it was written", before.Sub(at))
		}
		if !at.After(read.Add(-time.Millisecond)) {
			return
		}
		if read.After(end) {
			t.Fatalf("dated %v after it was written, read %v after", at.Sub(before), read.Sub(before))
		}
	}
}

// dateOne writes a byte that the tick comes 2 ms too late for, and returns when
// it was written, dated and read.
func dateOne(t *testing.T, w net.Conn, c *Conn) (before, at, read time.Time) {
	before = time.Now()
	w.Write([]byte("x"))
	after := time.Now()
	for now := after; ; now = time.Now() {
		if now.Sub(after) > 2*time.Millisecond {
			if came, _ := c.look(now); came {
				break
			}
		}
		if now.Sub(after) > patience {
			t.Fatal("nothing came")
		}
	}
	c.Read(make([]byte, 1))
	return before, c.Arrived(), time.Now()
}

func TestADeadlineEndsAWaitOnTheTick(t *testing.T) {
	_, c := pair(t, &Reader{})
	onTick(t, c)
	done := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 1))
		done <- err
	}()
	c.SetReadDeadline(time.Now())
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

func TestCloseEndsAWaitOnTheTick(t *testing.T) {
	_, c := pair(t, &Reader{})
	onTick(t, c)
	done := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 1))
		done <- err
	}()
	c.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestAFastWriterIsReadDirectly(t *testing.T) {
	w, c := pair(t, &Reader{})
	onTick(t, c)
	want := make([]byte, 3*roomSize)
	rand.New(rand.NewSource(1)).Read(want)
	go func() {
		w.Write(want)
		w.CloseWrite()
	}()
	for until(t, c) {
	}
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
	if c.Feed(true); c.fast.IsZero() || c.bell != nil {
		t.Error("it is back on the tick at once")
	}
}

// TestManyWriters goes through all changes: direct, on the tick, thin, direct.
func TestManyWriters(t *testing.T) {
	var r Reader
	done := make(chan error)
	const writers = 16
	for i := range writers {
		w, c := pair(t, &r)
		c.Feed(true)
		want := make([]byte, 400<<10)
		rnd := rand.New(rand.NewSource(int64(i)))
		rnd.Read(want)
		go func() {
			for rest := want; len(rest) > 0; {
				n := min(1+rnd.Intn(20000), len(rest))
				w.Write(rest[:n])
				rest = rest[n:]
			}
			w.Close()
		}()
		go func() {
			got, err := io.ReadAll(c)
			if err == nil && !bytes.Equal(got, want) {
				err = errors.New("bytes were lost or altered")
			}
			done <- err
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		ticking := r.ticking
		r.mu.Unlock()
		if !ticking {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it ticks without a connection")
		}
	}
}

func TestOtherConnectionsStayAsTheyAre(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if c := (&Reader{}).conn(a); c != a {
		t.Errorf("%T", c)
	}
}

func TestLookingDoesNotAllocate(t *testing.T) {
	w, c := pair(t, &Reader{})
	onTick(t, c)
	b, m := make([]byte, 2000), make([]byte, 1316)
	n := testing.AllocsPerRun(200, func() {
		w.Write(m)
		for c.look(time.Now()); ; c.look(time.Now()) {
			if c.to > c.from {
				break
			}
		}
		c.Read(b)
	})
	if n > 0 {
		t.Errorf("%v allocations a tick", n)
	}
}
