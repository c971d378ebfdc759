package ffprotocol_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/ffprotocol"
	"github.com/weirline/weirline/srtcore"
)

const patience = 20 * time.Second

// lossless makes a connection whose sender waits instead of dropping.
const lossless = "tlpktdrop=0&latency=20"

// listen serves one address; accept returns what calls it.
func listen(t *testing.T, query string) (url string, accept func() *srtcore.Conn) {
	t.Helper()
	target, err := srtcore.ParseURL("srt://127.0.0.1:0?mode=listener&" + query)
	if err != nil {
		t.Fatal(err)
	}
	l, err := target.Listen(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return fmt.Sprintf("srt://%v?%s", l.Addr(), query), func() *srtcore.Conn {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		conn, err := l.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Abort() })
		return conn
	}
}

// reader is an open Reader and its peer.
func reader(t *testing.T, ctx context.Context, query string) (*ffprotocol.Reader, *srtcore.Conn) {
	t.Helper()
	url, accept := listen(t, query)
	r, err := ffprotocol.OpenReader(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, accept()
}

// writer is an open Writer and its peer.
func writer(t *testing.T, ctx context.Context, query string) (*ffprotocol.Writer, *srtcore.Conn) {
	t.Helper()
	url, accept := listen(t, query)
	w, err := ffprotocol.OpenWriter(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Conn().Abort() })
	return w, accept()
}

func mustWrite(t *testing.T, w io.Writer, p []byte) {
	t.Helper()
	if n, err := w.Write(p); n != len(p) || err != nil {
		t.Fatalf("Write = %d, %v; want %d", n, err, len(p))
	}
}

func content(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{7}).Read(b)
	return b
}

// Whatever the sizes of messages and of the reader's memory, the bytes are the
// same, and a read never returns nothing.
func TestReadAnySize(t *testing.T) {
	for _, room := range []int{1, 188, 1000, 1316, 5264, 40000} {
		r, peer := reader(t, context.Background(), lossless)
		want := content(60_000)
		var wg sync.WaitGroup
		wg.Go(func() {
			for left, n := want, 1; len(left) > 0; n = n*7%1316 + 1 {
				k := min(n, len(left))
				if _, err := peer.Write(left[:k]); err != nil {
					t.Error(err)
				}
				left = left[k:]
			}
			peer.Close()
		})
		var got []byte
		buf := make([]byte, room)
		for {
			n, err := r.Read(buf)
			if err == io.EOF {
				break
			}
			if err != nil || n < 1 || n > room {
				t.Fatalf("room for %d: Read = %d, %v", room, n, err)
			}
			got = append(got, buf[:n]...)
		}
		wg.Wait()
		if !bytes.Equal(got, want) {
			t.Errorf("room for %d: %d bytes came, %d were sent, or they differ", room, len(got), len(want))
		}
		if n := r.ReadPacket(buf); n != ffprotocol.AVErrorEOF {
			t.Errorf("ReadPacket after the end = %d, want AVErrorEOF", n)
		}
		if err := r.Err(); err != nil {
			t.Errorf("Err after the end = %v", err)
		}
	}
}

func TestReadWithoutRoom(t *testing.T) {
	r, _ := reader(t, context.Background(), lossless)
	if n, err := r.Read(nil); n != 0 || err != nil {
		t.Errorf("Read = %d, %v", n, err)
	}
	if n := r.ReadPacket(nil); n >= 0 {
		t.Errorf("ReadPacket = %d, want an error: 0 is progress to nobody", n)
	}
}

// Writes of FFmpeg's usual buffer come out as messages of whole packets.
func TestWriteMessages(t *testing.T) {
	w, peer := writer(t, context.Background(), lossless)
	ts := make([]byte, 200*188)
	for i := range 200 {
		ts[i*188], ts[i*188+1] = 0x47, byte(i)
	}
	got := make(chan []byte, 1)
	go func() {
		var all []byte
		buf := make([]byte, 1456)
		for {
			n, err := peer.Read(buf)
			if err != nil {
				break
			}
			if n%188 != 0 || buf[0] != 0x47 {
				t.Errorf("a message of %d bytes that begins with %#x", n, buf[0])
			}
			all = append(all, buf[:n]...)
		}
		got <- all
	}()
	mustWrite(t, w, ts[:32768])
	mustWrite(t, w, nil)
	if n := w.WritePacket(ts[32768:]); n != len(ts)-32768 {
		t.Errorf("WritePacket = %d", n)
	}
	for until := time.Now().Add(10 * time.Second); w.Stats().PktSentTotal == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the statistics stand still")
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(<-got, ts) {
		t.Error("the content differs")
	}
	if s := w.Stats(); s.PktSentUniqueTotal < 200/7 {
		t.Errorf("statistics after Close: %d packets", s.PktSentUniqueTotal)
	}
	if err := w.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
	if n := w.WritePacket(ts[:188]); n != ffprotocol.AVErrorExit {
		t.Errorf("WritePacket after Close = %d, want AVErrorExit", n)
	}
}

// The beginning of a packet that has no end is sent at closing.
func TestCloseSendsTheRest(t *testing.T) {
	w, peer := writer(t, context.Background(), lossless)
	mustWrite(t, w, append([]byte{0x47}, make([]byte, 99)...))
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	buf := make([]byte, 1456)
	if n, err := peer.Read(buf); n != 100 || err != nil {
		t.Errorf("Read = %d, %v; want 100 bytes", n, err)
	}
}

// The URL's timeout bounds a read and says so.
func TestTimeoutOfTheURL(t *testing.T) {
	r, _ := reader(t, context.Background(), lossless+"&timeout=30")
	n, err := r.Read(make([]byte, 100))
	if n != 0 || !errors.Is(err, srtcore.ErrTimeout) || ffprotocol.AVError(err) != ffprotocol.AVErrorEIO {
		t.Errorf("Read = %d, %v (%d)", n, err, ffprotocol.AVError(err))
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "read from 127.0.0.1:") {
		t.Errorf("Err = %v", err)
	}
}

// A Writer whose peer closes learns it as a broken pipe.
func TestPeerOfAWriterCloses(t *testing.T) {
	w, peer := writer(t, context.Background(), lossless)
	peer.Abort()
	<-w.Conn().Done()
	if n := w.WritePacket(make([]byte, 188)); n != ffprotocol.AVErrorPipe {
		t.Errorf("WritePacket = %d, want AVErrorPipe", n)
	}
	if err := w.Err(); !errors.Is(err, srtcore.ErrPeerClosed) {
		t.Errorf("Err = %v", err)
	}
	if err := w.Close(); !errors.Is(err, srtcore.ErrPeerClosed) {
		t.Errorf("Close = %v: it must not say that all arrived", err)
	}
}

// The callbacks allocate nothing once they run.
func TestNoAllocations(t *testing.T) {
	r, peer := reader(t, context.Background(), "latency=0&tlpktdrop=0")
	w := ffprotocol.NewWriter(context.Background(), peer)
	p, buf := bytes.Repeat(append([]byte{0x47}, make([]byte, 187)...), 28), make([]byte, 5264)
	turn := func() {
		if n := w.WritePacket(p); n != len(p) {
			t.Fatalf("WritePacket = %d", n)
		}
		for left := len(p); left > 0; {
			n := r.ReadPacket(buf)
			if n < 0 {
				t.Fatalf("ReadPacket = %d", n)
			}
			left -= n
		}
	}
	for range 100 {
		turn()
	}
	if n := testing.AllocsPerRun(200, turn); n >= 1 {
		t.Errorf("%v allocations a turn of four messages", n)
	}
}
