package srtcore_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

func TestBothDirections(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		a, b := r.pair()
		var wg sync.WaitGroup
		wg.Go(func() { r.mustWrite(a, 1, 300) })
		wg.Go(func() { r.mustWrite(b, 2, 300) })
		wg.Go(func() { r.mustRead(b, 1, 300) })
		wg.Go(func() { r.mustRead(a, 2, 300) })
		wg.Wait()
	})
}

func TestManyConnections(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		const conns, messages = 32, 100
		l := r.listen("127.0.0.1:0")
		var wg sync.WaitGroup
		for i := range conns {
			c := r.dial(l.Addr().String())
			s := r.accept(l)
			wg.Go(func() { r.mustWrite(c, byte(i), messages) })
			wg.Go(func() { r.mustRead(s, byte(i), messages) })
		}
		wg.Wait()
	})
}

func TestEncrypted(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair(func(c *srtcore.Config) { c.Passphrase, c.PBKeyLen = "correct horse", 32 })
	var wg sync.WaitGroup
	wg.Go(func() { r.mustWrite(a, 1, 50) })
	wg.Go(func() { r.mustRead(b, 1, 50) })
	wg.Wait()
	if s := b.Stats(); s.RcvKMState != "SECURED" || s.PBKeyLen != 32 {
		t.Errorf("key state %s, key length %d; want SECURED, 32", s.RcvKMState, s.PBKeyLen)
	}
}

func TestGetters(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair(func(c *srtcore.Config) {
		c.StreamID, c.RcvLatency, c.PeerLatency = "live/one", 50*time.Millisecond, 80*time.Millisecond
	})
	if a.StreamID() != "live/one" || b.StreamID() != "live/one" {
		t.Errorf("stream ids %q, %q", a.StreamID(), b.StreamID())
	}
	if a.RemoteAddr().String() != b.LocalAddr().String() || a.LocalAddr().(*net.UDPAddr).Port != b.RemoteAddr().(*net.UDPAddr).Port {
		t.Errorf("addresses %v-%v, %v-%v", a.LocalAddr(), a.RemoteAddr(), b.LocalAddr(), b.RemoteAddr())
	}
	if a.RcvLatency() != 80*time.Millisecond || b.PeerLatency() != 80*time.Millisecond {
		t.Errorf("latencies %v, %v", a.RcvLatency(), b.PeerLatency())
	}
	if a.MaxPayload() != 1316 || a.PeerVersion() == 0 || a.Err() != nil {
		t.Errorf("payload %d, version %x, err %v", a.MaxPayload(), a.PeerVersion(), a.Err())
	}
}

func TestMessageTooLong(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	_, err := a.Write(make([]byte, 1317))
	size, ok := errors.AsType[*srtcore.MessageSizeError](err)
	if !ok || size.Size != 1317 || size.Max != 1316 {
		t.Errorf("Write = %v, want a MessageSizeError with 1317 and 1316", err)
	}
	n, err := a.WriteBatch([][]byte{[]byte("one"), nil, []byte("two"), make([]byte, 2000), []byte("three")})
	if _, ok := errors.AsType[*srtcore.MessageSizeError](err); n != 3 || !ok {
		t.Errorf("WriteBatch = %d, %v", n, err)
	}
	if n, err := a.Write(nil); n != 0 || err != nil {
		t.Errorf("Write of nothing = %d, %v", n, err)
	}
	r.wantRead(b, "one")
	r.wantRead(b, "two")
}

func TestShortBuffer(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	r.wantWrite(a, "a message")
	wantSoon(t, "the short buffer", func() bool {
		n, err := b.Read(make([]byte, 3))
		return n == 0 && errors.Is(err, io.ErrShortBuffer)
	})
	r.wantRead(b, "a message")
}

func TestReadMessage(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	source := time.Now()
	if _, err := a.WriteMessage([]byte("x"), source); err != nil {
		t.Fatal(err)
	}
	n, info, err := b.ReadMessage(make([]byte, 10))
	if n != 1 || err != nil {
		t.Fatalf("ReadMessage = %d, %v", n, err)
	}
	if d := info.Source.Sub(source); d < -10*time.Millisecond || d > 50*time.Millisecond {
		t.Errorf("source time is off by %v", d)
	}
}

func TestBatches(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	var out [][]byte
	for i := range 100 {
		out = append(out, message(7, i))
	}
	if n, err := a.WriteBatch(out); n != 100 || err != nil {
		t.Fatalf("WriteBatch = %d, %v", n, err)
	}
	in := make([][]byte, 30)
	for i := range in {
		in[i] = make([]byte, 0, 1500)
	}
	for got := 0; got < 100; {
		n, err := b.ReadBatch(in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if !bytes.Equal(in[i], message(7, got)) {
				t.Fatalf("message %d is wrong", got)
			}
			got++
		}
	}
	if n, err := b.TryReadBatch(in); n != 0 || err != nil {
		t.Errorf("TryReadBatch = %d, %v; want 0, nil", n, err)
	}
	wantSoon(t, "the acknowledgement", func() bool { return a.Buffered() == 0 })
}

func TestReadDeadline(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		a, b := r.pair()
		_ = b.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 { // the deadline is everybody's
			wg.Go(func() {
				_, err := b.Read(make([]byte, 10))
				if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("Read = %v, want a timeout", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took < 25*time.Millisecond || took > patience {
			t.Errorf("took %v", took)
		}
		if _, err := b.Read(make([]byte, 10)); !errors.Is(err, srtcore.ErrTimeout) {
			t.Errorf("Read after the deadline = %v", err)
		}
		_ = b.SetReadDeadline(time.Time{})
		r.wantWrite(a, "after")
		r.wantRead(b, "after")
	})
}

// A deadline set from elsewhere ends a Read that waits without one.
func TestDeadlineInterrupts(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	_, b := r.pair()
	done := make(chan error)
	go func() { _, err := b.Read(make([]byte, 10)); done <- err }()
	_ = b.SetDeadline(time.Unix(1, 0))
	if err := <-done; !errors.Is(err, srtcore.ErrTimeout) {
		t.Errorf("Read = %v", err)
	}
}

func small(c *srtcore.Config) {
	c.SndBuf, c.TLPktDrop = 1, false
	c.MaxBW = 100_000 // bytes/s: the queue fills
	c.SndDropDelay = -1
}

func TestTryWriteBatch(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair(func(c *srtcore.Config) { c.RcvLatency, c.PeerLatency = 200*time.Millisecond, 200*time.Millisecond })
	msgs := [][]byte{[]byte("one"), nil, []byte("two"), make([]byte, 2000), []byte("three")}
	made := time.Now() // after the handshake, which no message is older than
	wantSoon(t, "some time to pass", func() bool { return time.Since(made) > 30*time.Millisecond })
	n, err := a.TryWriteBatch(msgs, made)
	if _, ok := errors.AsType[*srtcore.MessageSizeError](err); n != 3 || !ok {
		t.Errorf("TryWriteBatch = %d, %v", n, err)
	}
	if n, err = a.TryWriteBatch(msgs[4:], time.Time{}); n != 1 || err != nil {
		t.Errorf("TryWriteBatch = %d, %v", n, err)
	}
	got := make([]byte, 100)
	var sources [3]time.Time
	for i, want := range []string{"one", "two", "three"} {
		k, info, err := b.ReadMessage(got)
		if err != nil || string(got[:k]) != want {
			t.Fatalf("read %q, %v, want %q", got[:k], err, want)
		}
		sources[i] = info.Source
	}
	if d := sources[1].Sub(sources[0]); d != 0 {
		t.Errorf("messages of one batch are %v apart", d)
	}
	if d := sources[2].Sub(sources[1]); d < 30*time.Millisecond {
		t.Errorf("a batch dated 30 ms back is only %v older", d)
	}
	a.Close()
	if n, err := a.TryWriteBatch(msgs[:1], time.Time{}); n != 0 || !errors.Is(err, srtcore.ErrClosed) {
		t.Errorf("after Close: %d, %v", n, err)
	}
}

func TestTryWriteBatchDoesNotWait(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, _ := r.pair(small)
	msgs := [][]byte{message(1, 0), message(1, 1), message(1, 2)}
	wantSoon(t, "the queue to fill", func() bool {
		n, err := a.TryWriteBatch(msgs, time.Time{})
		if err == nil && n > 0 {
			return false
		}
		if n != 0 || !errors.Is(err, srtcore.ErrAgain) {
			t.Errorf("TryWriteBatch = %d, %v", n, err)
		}
		return true
	})
}

func TestWriteBlocksAndTimesOut(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, _ := r.pair(small)
	_ = a.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	for range 10000 {
		if _, err := a.Write(message(1, 0)); err != nil {
			if !errors.Is(err, srtcore.ErrTimeout) {
				t.Errorf("Write = %v", err)
			}
			// An acknowledgement may have made room in between; it is soon used up.
			for err = nil; err == nil; err = a.TryWrite(message(1, 0)) {
			}
			if !errors.Is(err, srtcore.ErrAgain) {
				t.Errorf("TryWrite = %v", err)
			}
			return
		}
	}
	t.Error("Write never blocked")
}

func TestCloseEndsPendingCalls(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		a, _ := r.pair(small)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if _, err := a.Read(make([]byte, 10)); !errors.Is(err, net.ErrClosed) {
					t.Errorf("Read = %v, want ErrClosed", err)
				}
			})
			wg.Go(func() {
				var err error
				for err == nil {
					_, err = a.Write(message(1, 0))
				}
				if !errors.Is(err, srtcore.ErrClosed) {
					t.Errorf("Write = %v, want ErrClosed", err)
				}
			})
		}
		wantSoon(t, "the queue to fill", func() bool { return a.TryWrite(message(1, 0)) != nil })
		start := time.Now()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("Close took %v", took)
		}
		wg.Wait()
		if a.Err() != srtcore.ErrClosed || a.Close() != nil {
			t.Errorf("Err = %v", a.Err())
		}
	})
}

// Everything written before Close arrives; then the reader gets io.EOF.
func TestCloseDelivers(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		a, b := r.pair()
		var wg sync.WaitGroup
		wg.Go(func() {
			r.mustRead(b, 9, 500)
			if n, err := b.Read(make([]byte, 10)); n != 0 || err != io.EOF {
				t.Errorf("Read = %d, %v; want io.EOF", n, err)
			}
		})
		for i := range 500 {
			if _, err := a.Write(message(9, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if _, err := b.Write([]byte("x")); !errors.Is(err, srtcore.ErrPeerClosed) {
			t.Errorf("Write = %v, want ErrPeerClosed", err)
		}
		<-b.Done()
		if b.Err() != srtcore.ErrPeerClosed {
			t.Errorf("Err = %v", b.Err())
		}
	})
}

func TestAbort(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	if err := a.Abort(); err != nil {
		t.Error(err)
	}
	<-a.Done()
	if n, err := b.Read(make([]byte, 10)); err != io.EOF {
		t.Errorf("Read = %d, %v; want io.EOF", n, err)
	}
}

// A peer that vanishes without SHUTDOWN is noticed by readers and writers.
func TestPeerIdle(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	relay := newRelay(t)
	l := r.listen("127.0.0.1:0")
	relay.target(l.Addr())
	a := r.dial(relay.addr(), func(c *srtcore.Config) { c.PeerIdleTimeout = 1200 * time.Millisecond })
	_ = r.accept(l)
	relay.cut()
	_, err := a.Read(make([]byte, 10))
	if !errors.Is(err, srtcore.ErrPeerIdle) {
		t.Errorf("Read = %v, want ErrPeerIdle", err)
	}
	if _, err := a.Write([]byte("x")); !errors.Is(err, srtcore.ErrPeerIdle) {
		t.Errorf("Write = %v, want ErrPeerIdle", err)
	}
}

// A reader that comes late finds everything: what the inbox does not hold waits
// in the receiver buffer.
func TestSlowReader(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	r.mustWrite(a, 3, 1500)
	wantSoon(t, "the acknowledgement", func() bool { return a.Buffered() == 0 })
	r.mustRead(b, 3, 1500)
}

func TestStats(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	a, b := r.pair()
	r.mustWrite(a, 1, 40)
	r.mustRead(b, 1, 40)
	if s := a.Stats(); s.PktSentUniqueTotal != 40 || s.ByteSentUniqueTotal != 40*(1316+44) || s.PktSentUnique != 40 {
		t.Errorf("sender: %+v", s)
	}
	if s := b.StatsInterval(); s.PktRecvUnique != 40 || s.MsRcvTsbPdDelay != 20 || s.PeerVersion == "0.0.0" {
		t.Errorf("receiver: %+v", s)
	}
	if s := b.StatsInterval(); s.PktRecvUnique != 0 || s.PktRecvUniqueTotal != 40 {
		t.Errorf("receiver, next interval: %+v", s)
	}
	_ = a.Close()
	if s := a.Stats(); s.PktSentUniqueTotal != 40 {
		t.Errorf("after Close: %+v", s)
	}
	_ = r.runtime.Close()
	if s := b.Stats(); s.PktRecvUniqueTotal != 40 {
		t.Errorf("after the runtime's end: %+v", s)
	}
}

func TestRuntimeClose(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		a, b := r.pair()
		l := r.listen("127.0.0.1:0")
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := a.Read(make([]byte, 10)); !errors.Is(err, srtcore.ErrClosed) && err != io.EOF {
				t.Errorf("Read = %v", err)
			}
		})
		_ = r.runtime.Close()
		wg.Wait()
		<-b.Done()
		if _, err := l.Accept(r.ctx); !errors.Is(err, srtcore.ErrClosed) {
			t.Errorf("Accept = %v", err)
		}
		if _, err := r.tryDial(l.Addr().String()); !errors.Is(err, srtcore.ErrClosed) {
			t.Errorf("Dial = %v", err)
		}
		if _, err := srtcore.Listen(r.ctx, "127.0.0.1:0", &r.cfg); !errors.Is(err, srtcore.ErrClosed) {
			t.Errorf("Listen = %v", err)
		}
		_ = a.Close()
		_ = l.Close()
	})
}
