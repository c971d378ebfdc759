package access_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/config"
)

// tsPackets are transport stream packets of one PID, each with its number.
func tsPackets(n int) []byte {
	out := make([]byte, 0, n*188)
	for i := range n {
		p := bytes.Repeat([]byte{0xff}, 188)
		p[0], p[1], p[2], p[3] = 0x47, 0x01, 0x00, 0x10|byte(i&15)
		p[4], p[5], p[6] = byte(i>>16), byte(i>>8), byte(i)
		out = append(out, p...)
	}
	return out
}

// libsrt's tool publishes with a stream id and a passphrase, and is refused
// without.
func TestSRTLiveTransmitPublishes(t *testing.T) {
	r := newRig(t, config.Listener{Address: "srt://127.0.0.1:0?latency=120"})
	in := r.publish("live/a", "0123456789")
	ctx, cancel := context.WithTimeout(r.ctx, 15*time.Second)
	defer cancel()
	const query = "?latency=120&streamid=#!::r=live/a,m=publish&passphrase="
	wrong := exec.CommandContext(ctx, "srt-live-transmit", "-a:no", "file://con", "srt://"+r.addr()+query+"9876543210")
	if _, err := wrong.StdinPipe(); err != nil { // stays open: its end would be the tool's
		t.Fatal(err)
	}
	if err := wrong.Start(); err != nil {
		t.Fatal(err)
	}
	r.soon("the refusal", func() bool { return r.port.Snapshot().Refused["passphrase"] > 0 })
	_ = wrong.Process.Kill()
	_ = wrong.Wait()

	cmd := exec.CommandContext(ctx, "srt-live-transmit", "-a:no", "-chunk:1316", "file://con", "srt://"+r.addr()+query+"0123456789")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	src := r.openSource(in)
	want := tsPackets(7 * 100)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for i := 0; i < len(want); i += 1316 {
		<-tick.C
		if _, err := stdin.Write(want[i : i+1316]); err != nil {
			t.Fatal(err)
		}
	}
	var got []byte
	msgs := make([][]byte, 64)
	for len(got) < len(want) {
		n, err := src.ReadBatch(msgs)
		for _, m := range msgs[:n] {
			got = append(got, m...)
		}
		if err != nil {
			t.Fatalf("%d of %d bytes: %v", len(got), len(want), err)
		}
	}
	if !bytes.Equal(got, want) {
		t.Error("the content differs")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// ffmpeg plays by stream id what is sent to it, and leaves at the end with 0.
func TestFFmpegPlays(t *testing.T) {
	r := newRig(t, config.Listener{Address: "srt://127.0.0.1:0?latency=120"})
	out := r.play("live/a", "")
	dir := t.TempDir()
	in, copied := filepath.Join(dir, "in.ts"), filepath.Join(dir, "out.ts")
	ctx, cancel := context.WithTimeout(r.ctx, 15*time.Second)
	defer cancel()
	make := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=25:duration=2",
		"-c:v", "mpeg2video", "-f", "mpegts", in)
	if text, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	play := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-f", "mpegts", "-i",
		"srt://"+r.addr()+"?mode=caller&streamid=#!::r=live/a,m=request", "-map", "0", "-c", "copy", "-f", "mpegts", copied)
	var said bytes.Buffer
	play.Stderr = &said
	if err := play.Start(); err != nil {
		t.Fatal(err)
	}
	sink := r.openSink(out)
	media, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	for len(media) > 0 {
		n := min(len(media), 1316)
		if err := sink.WriteBatch([][]byte{media[:n]}); err != nil {
			t.Fatal(err)
		}
		media = media[n:]
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if err := play.Wait(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, said.String())
	}
	if a, b := frames(ctx, t, in), frames(ctx, t, copied); a != b || a == "" {
		t.Errorf("frames differ:\n%s\n%s", a, b)
	}
}

// frames are the checksums of the decoded frames.
func frames(ctx context.Context, t *testing.T, path string) string {
	t.Helper()
	text, err := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-f", "hash", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
