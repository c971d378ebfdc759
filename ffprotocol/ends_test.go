package ffprotocol_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/ffprotocol"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
)

// full makes a connection whose writer soon blocks if its peer does not read.
const full = lossless + "&fc=64&sndbuf=100000&rcvbuf=100000"

var errClosing = errors.New("closing time")

// blocked waits until a goroutine that calls do has not come back for a while.
func blocked(t *testing.T, do func() int) <-chan int {
	t.Helper()
	var mu sync.Mutex
	since := time.Now()
	ended := make(chan int, 1)
	go func() {
		for {
			n := do()
			mu.Lock()
			since = time.Now()
			mu.Unlock()
			if n < 0 {
				ended <- n
				return
			}
		}
	}()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case n := <-ended:
			t.Fatalf("ended with %d instead of blocking", n)
		case <-deadline:
			t.Fatal("does not block")
		case <-tick.C:
			mu.Lock()
			still := time.Since(since) > 200*time.Millisecond
			mu.Unlock()
			if still {
				return ended
			}
		}
	}
}

// fill writes until there is no room, and none comes.
func fill(t *testing.T, conn *srtcore.Conn) {
	t.Helper()
	message := content(1316)
	for {
		_ = conn.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
		if _, err := conn.Write(message); errors.Is(err, srtcore.ErrTimeout) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func wantEnd(t *testing.T, ended <-chan int, want int) {
	t.Helper()
	select {
	case n := <-ended:
		if n != want {
			t.Errorf("ended with %d, want %d", n, want)
		}
	case <-time.After(patience):
		t.Fatal("still blocks")
	}
}

func TestContextEndsARead(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r, peer := reader(t, ctx, lossless)
	ended := blocked(t, func() int { return r.ReadPacket(make([]byte, 1316)) })
	if r.Stats().MsTimeStamp == 0 {
		t.Error("no statistics while a read blocks")
	}
	cancel(errClosing)
	wantEnd(t, ended, ffprotocol.AVErrorExit)
	wantStopped(t, r.Err(), "read from "+r.Conn().RemoteAddr().String())
	<-peer.Done() // and is told at once
	if err := peer.Err(); !errors.Is(err, srtcore.ErrPeerClosed) {
		t.Errorf("the peer sees %v", err)
	}
}

func TestContextEndsAWrite(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w, _ := writer(t, ctx, full)
	ended := blocked(t, func() int { return w.WritePacket(content(13160)) })
	if w.Stats().PktSentTotal == 0 {
		t.Error("no statistics while a write blocks")
	}
	cancel(errClosing)
	wantEnd(t, ended, ffprotocol.AVErrorExit)
	wantStopped(t, w.Err(), "write to "+w.Conn().RemoteAddr().String())
	if err := w.Close(); !errors.Is(err, errClosing) {
		t.Errorf("Close = %v: it must not say that all arrived", err)
	}
}

func wantStopped(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, ffprotocol.ErrStopped) || !errors.Is(err, errClosing) || !strings.Contains(err.Error(), text) {
		t.Errorf("Err = %v, want ErrStopped, the cause and %q", err, text)
	}
}

func TestCloseEndsARead(t *testing.T) {
	r, _ := reader(t, context.Background(), lossless)
	ended := blocked(t, func() int { return r.ReadPacket(make([]byte, 1316)) })
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	wantEnd(t, ended, ffprotocol.AVErrorExit)
	if err := r.Err(); err != nil {
		t.Errorf("Err = %v: closing is no failure", err)
	}
}

// Close ends a Write that blocks, and says that it did.
func TestCloseEndsAWrite(t *testing.T) {
	w, _ := writer(t, context.Background(), full+"&linger=100ms")
	ended := blocked(t, func() int { return w.WritePacket(content(13160)) })
	err := w.Close()
	wantEnd(t, ended, ffprotocol.AVErrorExit)
	if err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("Close = %v: it must not say that all arrived", err)
	}
}

// Close gives a peer up that does not read, and says so.
func TestCloseWithoutAcknowledgement(t *testing.T) {
	w, _ := writer(t, context.Background(), full+"&linger=100ms")
	fill(t, w.Conn())
	err := w.Close()
	if err == nil || !strings.Contains(err.Error(), "not acknowledged for 2.02s") {
		t.Errorf("Close = %v: it must not say that all arrived", err)
	}
}

// The end of the context ends the waiting of Close.
func TestContextEndsClose(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w, _ := writer(t, ctx, full+"&linger=60s")
	fill(t, w.Conn())
	ended := make(chan error, 1)
	go func() { ended <- w.Close() }()
	cancel(errClosing)
	select {
	case err := <-ended:
		if !errors.Is(err, errClosing) {
			t.Errorf("Close = %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Close still waits")
	}
}

func TestReasonsOfOpening(t *testing.T) {
	const secret, wrong = "0123456789secret", "a wrong passphrase"
	locked, _ := listen(t, "passphrase="+secret)
	target, err := srtcore.ParseURL("srt://127.0.0.1:0?mode=listener")
	if err != nil {
		t.Fatal(err)
	}
	target.Config.OnRequest = func(*srtcore.ConnRequest) error {
		return &srtcore.RejectError{Reason: srtcore.RejForbidden}
	}
	closed, err := target.Listen(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	for _, c := range []struct {
		name, url string
		is        error
		texts     []string
	}{
		{"refused", "srt://" + closed.Addr().String(), &srtcore.RejectError{Reason: srtcore.RejForbidden}, []string{"forbidden", "does not allow"}},
		{"wrong passphrase", strings.Replace(locked, secret, wrong, 1), &srtcore.RejectError{Reason: srtcore.RejBadSecret}, []string{"same passphrase on both sides"}},
		{"absent peer", fmt.Sprintf("srt://127.0.0.1:%d?conntimeo=200", port.Free(t)), srtcore.ErrConnTimeout, []string{"listener runs there", "200ms"}},
		{"unknown option", "srt://127.0.0.1:9?latenzy=1", nil, []string{`"latenzy"`, "unknown"}},
		{"another scheme", "udp://127.0.0.1:9", nil, []string{"srt://"}},
	} {
		_, rerr := ffprotocol.OpenReader(context.Background(), c.url)
		_, werr := ffprotocol.OpenWriter(context.Background(), c.url)
		for _, err := range []error{rerr, werr} {
			if err == nil || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: %v, want %v", c.name, err, c.is)
				continue
			}
			for _, text := range append(c.texts, "ffprotocol: ") {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s: %q does not say %q", c.name, err, text)
				}
			}
			if strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: %q tells the passphrase", c.name, err)
			}
		}
	}
}

// A listener waits for its caller until the context ends.
func TestNobodyCalls(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 30*time.Millisecond, errClosing)
	defer cancel()
	port := port.Free(t)
	_, err := ffprotocol.OpenReader(ctx, fmt.Sprintf("srt://127.0.0.1:%d?mode=listener", port))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("no caller came to 127.0.0.1:%d", port)) {
		t.Errorf("OpenReader = %v", err)
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = ffprotocol.OpenWriter(context.Background(), fmt.Sprintf("srt://%v?mode=listener", c.LocalAddr()))
	if err == nil {
		t.Error("listens on a port that somebody has")
	}
}

// A listener takes its first caller.
func TestListen(t *testing.T) {
	url := fmt.Sprintf("srt://127.0.0.1:%d?%s", port.Free(t), lossless)
	got := make(chan string, 1)
	go func() {
		r, err := ffprotocol.OpenReader(context.Background(), url+"&mode=listener")
		if err != nil {
			got <- err.Error()
			return
		}
		defer r.Close()
		buf := make([]byte, 100)
		n, _ := r.Read(buf)
		got <- string(buf[:n])
	}()
	w, err := ffprotocol.OpenWriter(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, w, []byte("hello"))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if s := <-got; s != "hello" {
		t.Errorf("received %q", s)
	}
}
