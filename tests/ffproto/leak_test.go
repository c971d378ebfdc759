package ffproto

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol"
	"github.com/weirline/weirline/ffprotocol/avio"
)

// virtual returns the process's data memory in bytes: an AVIO buffer that was not
// freed shows in it, used or not.
func virtual(t *testing.T) int {
	t.Helper()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var kib int
		if _, err := fmt.Sscanf(s.Text(), "VmData: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	t.Fatal("no VmData in /proc/self/status")
	return 0
}

// cycle makes and frees an Input and an Output with large buffers that are joined
// by a connection, sends something and closes.
func cycle(t *testing.T) {
	t.Helper()
	url, accept := listen(t, "latency=0")
	r, err := ffprotocol.OpenReader(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	in, err := avio.NewInput(r, avio.MaxMessages)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, err := avio.NewOutput(ffprotocol.NewWriter(ctx, accept()), avio.MaxMessages)
	if err != nil {
		t.Fatal(err)
	}
	out.IOContext().Write(make([]byte, 188))
	out.IOContext().Flush()
	if n, err := in.IOContext().Read(make([]byte, 188)); n != 188 || err != nil {
		t.Fatalf("Read = %d, %v", n, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	_ = out.Close() // its peer and its context are gone
}

// Nothing grows: no goroutine, no buffer of FFmpeg's, no file.
func TestNothingLeaks(t *testing.T) {
	const cycles = 200
	for range 5 {
		cycle(t)
	}
	settle := func() (goroutines, files, bytes int) {
		debug.FreeOSMemory()
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return runtime.NumGoroutine(), len(fds), virtual(t)
	}
	g, f, b := settle()
	for i := range cycles {
		t.Run(fmt.Sprint(i), cycle) // a listener ends with its test
	}
	until(t, fmt.Sprintf("back to %d goroutines", g), func() bool { return runtime.NumGoroutine() <= g })
	g2, f2, b2 := settle()
	t.Logf("goroutines %d, then %d; files %d, then %d; memory %d MiB, then %d", g, g2, f, f2, b>>20, b2>>20)
	if f2 > f+2 {
		t.Errorf("%d files are open, %d before", f2, f)
	}
	// Two buffers of 1.3 MiB each time would be 520 MiB; threads and the heap of
	// Go take some tens of them.
	if b2-b > 128<<20 {
		t.Errorf("memory grew by %d MiB", (b2-b)>>20)
	}
}

// A bad buffer is refused by name, and the connection ended.
func TestBadBuffers(t *testing.T) {
	for _, n := range []int{-1, 0, avio.MaxMessages + 1} {
		in, peer := openInput(t, context.Background(), lossless)
		_, err := avio.NewInput(in.Reader, n)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d messages: allowed are 1 to 1024", n)) {
			t.Errorf("NewInput with %d messages: %v", n, err)
		}
		_, err = avio.NewOutput(ffprotocol.NewWriter(context.Background(), peer), n)
		if err == nil || !strings.Contains(err.Error(), "allowed are 1 to 1024") {
			t.Errorf("NewOutput with %d messages: %v", n, err)
		}
		<-in.Conn().Done() // closed with it
		<-peer.Done()
	}
}

// The numbers of package ffprotocol are FFmpeg's.
func TestNumbers(t *testing.T) {
	for n, want := range map[int]astiav.Error{
		ffprotocol.AVErrorEOF:  astiav.ErrEof,
		ffprotocol.AVErrorExit: astiav.ErrExit,
		ffprotocol.AVErrorBug:  astiav.ErrBug,
		ffprotocol.AVErrorEIO:  astiav.ErrEio,
		ffprotocol.AVErrorPipe: astiav.ErrEpipe,
	} {
		if astiav.Error(n) != want {
			t.Errorf("%d is not %v", n, want)
		}
	}
}
