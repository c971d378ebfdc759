// Package ffproto runs FFmpeg's libraries on ffprotocol: remuxing both ways,
// stopping, ends, leaks and the example programs.
//
// Lives here: black-box tests of ffprotocol and ffprotocol/avio. May import: these,
// srtcore, go-astiav, tests/lab/impair. Never: the sidecar.
package ffproto

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/srtcore"
)

const patience = 20 * time.Second

// lossless makes a connection whose sender waits instead of dropping, so that a
// file goes through as fast as it likes.
const lossless = "tlpktdrop=0&latency=60"

// clip is a file of a few seconds, H.264 with B-frames and AAC.
var clip string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ffproto")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	clip = filepath.Join(dir, "clip.ts")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=4",
		"-f", "lavfi", "-i", "sine=f=440:r=48000:d=4", "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "25",
		"-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest", "-f", "mpegts", clip)
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", cmd.Args, err, out)
		return 1
	}
	astiav.SetLogLevel(astiav.LogLevelQuiet)
	return m.Run()
}

// packet is what counts about a packet of a demuxer.
type packet struct {
	stream   int
	pts, dts int64
	key      bool
	size     int
	sum      [32]byte
}

// demux returns the packets of an input, read from pb or, without one, from the
// file.
func demux(pb *astiav.IOContext, file string) ([]packet, error) {
	fc := astiav.AllocFormatContext()
	defer fc.Free()
	if pb != nil {
		fc.SetPb(pb)
	}
	if err := fc.OpenInput(file, astiav.FindInputFormat("mpegts"), nil); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer fc.CloseInput()
	if err := fc.FindStreamInfo(nil); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	pkt := astiav.AllocPacket()
	defer pkt.Free()
	var out []packet
	for {
		err := fc.ReadFrame(pkt)
		if errors.Is(err, astiav.ErrEof) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, packet{
			stream: pkt.StreamIndex(), pts: pkt.Pts(), dts: pkt.Dts(),
			key: pkt.Flags().Has(astiav.PacketFlagKey), size: pkt.Size(), sum: sha256.Sum256(pkt.Data()),
		})
		pkt.Unref()
	}
}

// mux writes the clip to pb, not decoded.
func mux(pb *astiav.IOContext, option ...string) error {
	in := astiav.AllocFormatContext()
	defer in.Free()
	if err := in.OpenInput(clip, nil, nil); err != nil {
		return err
	}
	defer in.CloseInput()
	if err := in.FindStreamInfo(nil); err != nil {
		return err
	}
	out, err := astiav.AllocOutputFormatContext(nil, "mpegts", "")
	if err != nil {
		return err
	}
	defer out.Free()
	out.SetPb(pb)
	for _, s := range in.Streams() {
		if err := s.CodecParameters().Copy(out.NewStream(nil).CodecParameters()); err != nil {
			return err
		}
	}
	options := astiav.NewDictionary()
	defer options.Free()
	for i := 0; i+1 < len(option); i += 2 {
		if err := options.Set(option[i], option[i+1], 0); err != nil {
			return err
		}
	}
	if err := out.WriteHeader(options); err != nil {
		return err
	}
	pkt := astiav.AllocPacket()
	defer pkt.Free()
	for in.ReadFrame(pkt) == nil {
		i := pkt.StreamIndex()
		pkt.RescaleTs(in.Streams()[i].TimeBase(), out.Streams()[i].TimeBase())
		if err := out.WriteInterleavedFrame(pkt); err != nil {
			return err
		}
	}
	return out.WriteTrailer()
}

// perStream orders packets by stream and counts their times from the first of
// all: a muxer begins where it likes, and interleaves as it likes.
func perStream(ps []packet) map[int][]packet {
	if len(ps) == 0 {
		return nil
	}
	first := ps[0].dts
	for _, p := range ps {
		first = min(first, p.dts)
	}
	out := map[int][]packet{}
	for _, p := range ps {
		p.pts, p.dts = p.pts-first, p.dts-first
		out[p.stream] = append(out[p.stream], p)
	}
	return out
}

// wantSame compares two demuxed streams by content.
func wantSame(t *testing.T, got, want []packet) {
	t.Helper()
	if len(want) < 200 {
		t.Fatalf("the clip has %d packets only", len(want))
	}
	g, w := perStream(got), perStream(want)
	for stream := range w {
		if len(g[stream]) != len(w[stream]) {
			t.Errorf("stream %d: %d packets, want %d", stream, len(g[stream]), len(w[stream]))
			continue
		}
		for i := range w[stream] {
			if g[stream][i] != w[stream][i] {
				t.Errorf("stream %d, packet %d: %+v, want %+v", stream, i, g[stream][i], w[stream][i])
				break
			}
		}
	}
	if len(g) != len(w) {
		t.Errorf("%d streams, want %d", len(g), len(w))
	}
}

// original are the packets of the clip.
func original(t *testing.T) []packet {
	t.Helper()
	ps, err := demux(nil, clip)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Errorf("%s: not within %v", what, patience)
			return
		}
	}
}

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
