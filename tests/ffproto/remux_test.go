package ffproto

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol"
	"github.com/weirline/weirline/ffprotocol/avio"
	"github.com/weirline/weirline/srtcore"
)

// openOutput is an Output and the connection at its other end.
func openOutput(t *testing.T, ctx context.Context, query string) (*avio.Output, *srtcore.Conn) {
	t.Helper()
	url, accept := listen(t, query)
	out, err := avio.OpenOutput(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Conn().Abort(); out.Close() })
	return out, accept()
}

// openInput is an Input and the connection at its other end.
func openInput(t *testing.T, ctx context.Context, query string) (*avio.Input, *srtcore.Conn) {
	t.Helper()
	url, accept := listen(t, query)
	in, err := avio.OpenInput(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in, accept()
}

// messages reads a connection to its end.
func messages(conn *srtcore.Conn) (out [][]byte, err error) {
	buf := make([]byte, 1456)
	for {
		n, err := conn.Read(buf)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, bytes.Clone(buf[:n]))
	}
}

// File to SRT: what a demuxer makes of the messages is what it makes of the file.
// They hold whole packets, at most seven; without flushing exactly seven.
func TestMuxToSRT(t *testing.T) {
	for _, c := range []struct {
		name, query string
		option      []string
	}{
		{"flushing", lossless, nil},
		{"full messages, encrypted", lossless + "&passphrase=0123456789abcdef", []string{"flush_packets", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, peer := openOutput(t, context.Background(), c.query)
			var wg sync.WaitGroup
			var got [][]byte
			wg.Go(func() {
				until(t, "statistics of a muxer that runs", func() bool { return out.Stats().PktSentUniqueTotal > 10 })
				var err error
				if got, err = messages(peer); err != nil {
					t.Error(err)
				}
			})
			err := mux(out.IOContext(), c.option...)
			if err := errors.Join(err, out.Close(), out.Err()); err != nil {
				t.Fatal(err)
			}
			wg.Wait()
			for i, m := range got {
				if len(m)%188 != 0 || m[0] != 0x47 || c.option != nil && len(m) != 1316 && i < len(got)-1 {
					t.Fatalf("message %d of %d: %d bytes that begin with %#x", i, len(got), len(m), m[0])
				}
			}
			file := filepath.Join(t.TempDir(), "out.ts")
			if err := os.WriteFile(file, bytes.Join(got, nil), 0o600); err != nil {
				t.Fatal(err)
			}
			ps, err := demux(nil, file)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, ps, original(t))
			if n := out.Stats().PktSentUniqueTotal; n != int64(len(got)) {
				t.Errorf("statistics: %d packets, %d came", n, len(got))
			}
		})
	}
}

// SRT to a demuxer: the packets are those of the file, times included, and the
// end is the end.
func TestDemuxFromSRT(t *testing.T) {
	in, peer := openInput(t, context.Background(), lossless)
	data, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for sent := int64(0); len(data) > 0; sent++ {
			if sent == 100 {
				until(t, "statistics of a demuxer that waits", func() bool { return in.Stats().PktRecvUniqueTotal == sent })
			}
			n := min(1316, len(data))
			if _, err := peer.Write(data[:n]); err != nil {
				t.Error(err)
				return
			}
			data = data[n:]
		}
		peer.Close()
	})
	got, err := demux(in.IOContext(), "")
	wg.Wait()
	if err != nil || in.Err() != nil {
		t.Fatal(err, in.Err())
	}
	want := original(t)
	wantSame(t, got, want)
	if len(got) > 0 && got[0] != want[0] {
		t.Errorf("first packet %+v, want %+v", got[0], want[0])
	}
}

// File to SRT to demuxer, both ends FFmpeg's.
func TestRemuxThroughSRT(t *testing.T) {
	in, peer := openInput(t, context.Background(), lossless+"&passphrase=0123456789abcdef&pbkeylen=32")
	out, err := avio.NewOutput(ffprotocol.NewWriter(context.Background(), peer), 1)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := errors.Join(mux(out.IOContext()), out.Close()); err != nil {
			t.Error(err)
		}
	})
	got, err := demux(in.IOContext(), "")
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, got, original(t))
}

// Without a muxer in between the bytes are the same, however FFmpeg is handed
// them.
func TestBytesThroughIOContexts(t *testing.T) {
	want, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	want = want[:188*1000]
	in, peer := openInput(t, context.Background(), lossless)
	out, err := avio.NewOutput(ffprotocol.NewWriter(context.Background(), peer), 3)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for left, n := want, 1; len(left) > 0; n = n*31%9973 + 1 {
			k := min(n, len(left))
			out.IOContext().Write(left[:k])
			if n%5 == 0 {
				out.IOContext().Flush()
			}
			left = left[k:]
		}
		if err := out.Close(); err != nil { // flushes
			t.Error(err)
		}
	})
	var got []byte
	buf := make([]byte, 20000)
	for {
		n, err := in.IOContext().Read(buf)
		if errors.Is(err, astiav.ErrEof) || n == 0 && err == nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buf[:n]...)
	}
	wg.Wait()
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes came, %d were sent, or they differ", len(got), len(want))
	}
}
