package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// streamSources are the addresses of these tests: both kinds of socket.
func streamSources(t *testing.T) map[string]string {
	return map[string]string{
		"unix": "unix:" + filepath.Join(t.TempDir(), "s"),
		"tcp":  "tcp://" + port.Addr(t),
	}
}

func listening(t *testing.T, raw string) *streamEnd {
	t.Helper()
	e := mustSource(t, raw).(*streamEnd)
	if err := e.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// connect dials a listening end and writes b, if there is any.
func connect(t *testing.T, e *streamEnd, b []byte) net.Conn {
	t.Helper()
	c, err := net.Dial(e.network, e.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Write(b); len(b) > 0 && err != nil {
		t.Fatal(err)
	}
	return c
}

func openSource(t *testing.T, e SourceEnd) Source {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	src, err := e.OpenSource(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	proctest.Eventually(t, "not in time: "+what, ok)
}

func (l *lobby) waiting() (idle, ready int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.idle), len(l.ready)
}

func TestSourceStaysThroughEncoderRestarts(t *testing.T) {
	for name, raw := range streamSources(t) {
		e := listening(t, raw)
		for i := range 5 {
			want := append(media(50), byte(i))
			go func() {
				c := connect(t, e, want)
				c.Close()
			}()
			src := openSource(t, e)
			got, err := readAll(t, src)
			src.Close()
			if !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
				t.Errorf("%s, start %d: %d of %d bytes, %v", name, i, len(got), len(want), err)
			}
		}
	}
}

func TestSecondEncoderWaitsForTheFirst(t *testing.T) {
	for name, raw := range streamSources(t) {
		e := listening(t, raw)
		one, two := media(10), media(20)
		first := connect(t, e, one)
		until(t, name+": the first is there", func() bool { _, n := e.lobby.waiting(); return n == 1 })
		second := connect(t, e, two)
		until(t, name+": the second is there", func() bool { _, n := e.lobby.waiting(); return n == 2 })
		src := openSource(t, e)
		first.Close()
		got, err := readAll(t, src)
		if !errors.Is(err, io.EOF) || !bytes.Equal(got, one) {
			t.Errorf("%s, first: %d of %d bytes, %v", name, len(got), len(one), err)
		}
		src.Close()
		second.Close()
		if got, err := readAll(t, openSource(t, e)); !errors.Is(err, io.EOF) || !bytes.Equal(got, two) {
			t.Errorf("%s, second: %d of %d bytes, %v", name, len(got), len(two), err)
		}
	}
}

// Connections that send nothing are nobody's turn, however many there are.
func TestSilentConnectionsDoNotHoldThePlace(t *testing.T) {
	for name, raw := range streamSources(t) {
		e := listening(t, raw)
		for range 3 * mostWaiting {
			connect(t, e, nil)
		}
		want := media(10)
		connect(t, e, want).Close()
		if got, err := readAll(t, openSource(t, e)); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
			t.Errorf("%s: %d of %d bytes, %v", name, len(got), len(want), err)
		}
		if idle, _ := e.lobby.waiting(); idle > mostWaiting {
			t.Errorf("%s: %d wait", name, idle)
		}
	}
}

// A writer that has fallen silent, or sends a byte now and then, gives way to one
// that sends; while nobody else is there it stays.
func TestSilentWriterGivesWay(t *testing.T) {
	e := listening(t, "unix:"+filepath.Join(t.TempDir(), "s"))
	begun := time.Now()
	slow := connect(t, e, media(7))
	src := openSource(t, e)
	over := make(chan struct{})
	defer close(over)
	go func() {
		tick := time.NewTicker(streamSilence / 5)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				slow.Write([]byte{0x47})
			case <-over:
				return
			}
		}
	}()
	want := media(10)
	connect(t, e, want).Close()
	_, err := readAll(t, src)
	if !errors.Is(err, errGaveWay) {
		t.Errorf("the silent one ended with %v", err)
	}
	if d := time.Since(begun); d < streamSilence {
		t.Errorf("gave way after %v", d)
	}
	src.Close()
	if got, err := readAll(t, openSource(t, e)); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

// One that sends all the time stays although another one waits.
func TestSendingWriterIsNotReplaced(t *testing.T) {
	e := listening(t, "unix:"+filepath.Join(t.TempDir(), "s"))
	first := connect(t, e, media(1))
	src := openSource(t, e)
	connect(t, e, media(10))
	go func() {
		defer first.Close()
		tick := time.NewTicker(streamSilence / 10)
		defer tick.Stop()
		for range 25 {
			<-tick.C
			first.Write(media(2))
		}
	}()
	if got, err := readAll(t, src); !errors.Is(err, io.EOF) || len(got) != 51*188 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// One whose reader is held up cannot send, and is not silent.
func TestWriterThatIsHeldUpIsNotSilent(t *testing.T) {
	now := time.Now()
	g := &guest{}
	if g.silent(now.Add(time.Hour)) {
		t.Error("silent although nobody reads")
	}
	g.waited = streamSilence / 4
	g.wait(now)
	if g.silent(now.Add(streamSilence / 2)) {
		t.Error("silent although we have not waited long")
	}
	if !g.silent(now.Add(streamSilence)) {
		t.Error("not silent although nothing came")
	}
}

func TestGarbageGivesWayToATransportStream(t *testing.T) {
	e := listening(t, "unix:"+filepath.Join(t.TempDir(), "s"))
	garbage := connect(t, e, bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 100))
	src := openSource(t, e)
	go func() { // goes on and on
		for {
			if _, err := garbage.Write(make([]byte, 1000)); err != nil {
				return
			}
		}
	}()
	connect(t, e, make([]byte, 1000)) // no better
	want := media(10)
	connect(t, e, want).Close()
	if _, err := readAll(t, src); !errors.Is(err, errGaveWay) {
		t.Errorf("the garbage ended with %v", err)
	}
	src.Close()
	if got, err := readAll(t, openSource(t, e)); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
}

func TestClosedSourceTurnsWaitersAway(t *testing.T) {
	e := listening(t, "unix:"+filepath.Join(t.TempDir(), "s"))
	c := connect(t, e, media(1))
	until(t, "it waits", func() bool { _, n := e.lobby.waiting(); return n == 1 })
	e.Close()
	if _, err := io.ReadAll(c); err != nil && !errors.Is(err, io.EOF) {
		t.Logf("reset: %v", err)
	}
	if _, err := e.OpenSource(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// An output that listens: every reader gets a session of its own, and the listener
// outlives a wait that was given up.
func TestManyReaders(t *testing.T) {
	for name, raw := range streamSources(t) {
		sep := "?"
		e := mustSink(t, raw+sep+"listen=1").(*streamEnd)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := e.OpenSink(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: nobody came: %v", name, err)
		}
		cancel()
		want := media(20)
		got := make(chan []byte)
		for range 20 {
			go func() {
				c, err := net.Dial(e.network, e.addr)
				if err != nil {
					t.Error(err)
					got <- nil
					return
				}
				defer c.Close()
				b, _ := io.ReadAll(c)
				got <- b
			}()
		}
		stuck := connect(t, e, []byte("reads nothing"))
		for range 21 {
			sink, err := e.OpenSink(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				sink.WriteBatch([][]byte{want[:10*188], want[10*188:]})
				sink.Close()
			}()
		}
		for range 20 {
			if b := <-got; !bytes.Equal(b, want) {
				t.Errorf("%s: %d of %d bytes", name, len(b), len(want))
			}
		}
		stuck.Close()
	}
}

// A reader that takes nothing is ended by Abort.
func TestAbortEndsAStuckReader(t *testing.T) {
	e := mustSink(t, "unix:"+filepath.Join(t.TempDir(), "s")+"?listen=1").(*streamEnd)
	if err := e.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	connect(t, e, nil)
	sink, err := e.OpenSink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		for {
			if err := sink.WriteBatch([][]byte{media(7)}); err != nil {
				done <- err
				return
			}
		}
	}()
	sink.Abort()
	select {
	case err := <-done:
		if !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("still writing")
	}
}
