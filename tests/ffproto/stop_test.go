package ffproto

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol"
	"github.com/weirline/weirline/ffprotocol/avio"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/lab/impair"
)

const (
	// unblocks is how soon FFmpeg's call returns after the end of the context.
	unblocks = 50 * time.Millisecond
	// idle is how long a call must have waited to count as blocked.
	idle = 100 * time.Millisecond
	// rounds of each: one could be luck.
	rounds = 10
)

var errClosing = errors.New("closing time")

// stopped ends the context of a call that blocks and returns how long the call
// went on.
func stopped(t *testing.T, cancel context.CancelCauseFunc, ended <-chan error) time.Duration {
	t.Helper()
	select {
	case err := <-ended:
		t.Fatalf("ended with %v instead of blocking", err)
	case <-time.After(idle):
	}
	start := time.Now()
	cancel(errClosing)
	select {
	case err := <-ended:
		took := time.Since(start)
		if !errors.Is(err, astiav.ErrExit) {
			t.Errorf("FFmpeg returned %v, want ErrExit", err)
		}
		return took
	case <-time.After(patience):
		t.Fatal("still blocks")
	}
	return 0
}

func wantSoon(t *testing.T, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	t.Logf("unblocked after %v (median), %v (longest of %d)", took[len(took)/2], took[len(took)-1], len(took))
	if longest := took[len(took)-1]; longest > unblocks {
		t.Errorf("unblocked after %v, allowed are %v", longest, unblocks)
	}
}

// The end of the context ends a demuxer that waits for data: while it opens, and
// between frames.
func TestContextEndsADemuxer(t *testing.T) {
	var took []time.Duration
	for range rounds {
		ctx, cancel := context.WithCancelCause(context.Background())
		in, _ := openInput(t, ctx, lossless)
		ended := make(chan error, 1)
		go func() {
			_, err := demux(in.IOContext(), "")
			ended <- err
		}()
		took = append(took, stopped(t, cancel, ended))
		if err := in.Err(); !errors.Is(err, ffprotocol.ErrStopped) || !errors.Is(err, errClosing) {
			t.Errorf("Err = %v", err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	wantSoon(t, took)
}

func TestContextEndsADemuxerBetweenFrames(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	in, peer := openInput(t, ctx, lossless)
	out, err := avio.NewOutput(ffprotocol.NewWriter(context.Background(), peer), 8)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := demux(in.IOContext(), "")
		ended <- err
	}()
	if err := mux(out.IOContext()); err != nil { // and stays connected
		t.Fatal(err)
	}
	wantSoon(t, []time.Duration{stopped(t, cancel, ended)})
	_ = out.Close() // its peer is gone
}

// The end of the context ends a muxer whose peer does not read.
func TestContextEndsAMuxer(t *testing.T) {
	var took []time.Duration
	for range rounds {
		ctx, cancel := context.WithCancelCause(context.Background())
		out, _ := openOutput(t, ctx, lossless+"&fc=64&sndbuf=100000&rcvbuf=100000")
		ended := make(chan error, 1)
		go func() {
			for {
				if err := mux(out.IOContext()); err != nil {
					ended <- err
					return
				}
			}
		}()
		until(t, "sending", func() bool { return out.Stats().PktSentTotal > 0 })
		took = append(took, stopped(t, cancel, ended))
		if err := out.Err(); !errors.Is(err, ffprotocol.ErrStopped) || !errors.Is(err, errClosing) {
			t.Errorf("Err = %v", err)
		}
		if err := out.Close(); !errors.Is(err, errClosing) {
			t.Errorf("Close = %v: it must not say that all arrived", err)
		}
	}
	wantSoon(t, took)
}

// A peer that vanishes is an I/O error to FFmpeg, and Err says which; one that
// closes in order is the end (TestDemuxFromSRT).
func TestPeerVanishes(t *testing.T) {
	url, accept := listen(t, lossless)
	target, err := srtcore.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	relay, err := impair.Start(impair.Config{Target: target.Addr})
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	in, err := avio.OpenInput(context.Background(), "srt://"+relay.Addr()+"?peeridletimeo=1000&"+lossless)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	accept()
	relay.Close()
	if _, err := demux(in.IOContext(), ""); !errors.Is(err, astiav.ErrEio) {
		t.Errorf("FFmpeg returned %v, want ErrEio", err)
	}
	if err := in.Err(); !errors.Is(err, srtcore.ErrPeerIdle) {
		t.Errorf("Err = %v, want ErrPeerIdle", err)
	}
}

// A muxer whose peer closes gets a broken pipe.
func TestPeerOfAMuxerCloses(t *testing.T) {
	out, peer := openOutput(t, context.Background(), lossless)
	peer.Abort()
	<-out.Conn().Done()
	if err := mux(out.IOContext()); !errors.Is(err, astiav.ErrEpipe) {
		t.Errorf("FFmpeg returned %v, want ErrEpipe", err)
	}
	if err := out.Err(); !errors.Is(err, srtcore.ErrPeerClosed) {
		t.Errorf("Err = %v", err)
	}
	if err := out.Close(); !errors.Is(err, srtcore.ErrPeerClosed) {
		t.Errorf("Close = %v: it must not say that all arrived", err)
	}
}

// A panic below a callback is an error of FFmpeg's call: a stream without a
// connection panics in every callback.
func TestPanicDoesNotCrossC(t *testing.T) {
	in, err := avio.NewInput(&ffprotocol.Reader{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer in.IOContext().Free()
	if _, err := demux(in.IOContext(), ""); !errors.Is(err, astiav.ErrBug) {
		t.Errorf("demuxer: %v, want ErrBug", err)
	}
	out, err := avio.NewOutput(&ffprotocol.Writer{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer out.IOContext().Free()
	if err := mux(out.IOContext()); !errors.Is(err, astiav.ErrBug) {
		t.Errorf("muxer: %v, want ErrBug", err)
	}
	for _, err := range []error{in.Err(), out.Err()} {
		if _, ok := errors.AsType[*ffprotocol.FaultError](err); !ok {
			t.Errorf("Err = %v, want a FaultError", err)
		}
	}
}
