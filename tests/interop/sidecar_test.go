package interop

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// makeClip encodes a few seconds of test pattern and tone.
func makeClip(t *testing.T, seconds int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clip.ts")
	runTool(t, "ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25",
		"-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000", "-t", strconv.Itoa(seconds),
		"-map", "0", "-map", "1", "-c:v", "mpeg2video", "-b:v", "2M", "-g", "25", "-c:a", "mp2", "-f", "mpegts", name)
	return name
}

func runTool(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

// streams returns the sha256 of each elementary stream in a file.
func streams(t *testing.T, name string) string {
	t.Helper()
	return runTool(t, "ffmpeg", "-v", "error", "-nostdin", "-f", "mpegts", "-i", name, "-map", "0", "-c", "copy",
		"-f", "streamhash", "-hash", "sha256", "-")
}

// serve starts the daemon and returns its HTTP address.
func serve(t *testing.T) string {
	t.Helper()
	addr, _ := daemon(t)
	return addr
}

// daemon starts the daemon.
func daemon(t *testing.T) (addr string, p *process) {
	t.Helper()
	for range 10 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port.Free(t)))
		if err != nil {
			continue
		}
		addr = l.Addr().String()
		l.Close()
		p = start(t, nil, binary, "serve", "--listen", addr)
		proctest.Eventually(t, "weirline serve does not answer", func() bool {
			c, err := net.Dial("tcp", addr)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		return addr, p
	}
	t.Fatal("no free TCP port")
	return "", nil
}

// TestSidecarSends: ffmpeg, which is told nothing of SRT, to srt-live-transmit.
func TestSidecarSends(t *testing.T) {
	slt.need(t)
	ffmpeg.need(t)
	t.Parallel()
	clip := makeClip(t, 3)
	addr := serve(t)
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, keyLen: 16, latency: onClean}
	sink := newCollector(1 << 40)
	rcv := slt.recv(t, at, sink)
	proctest.WaitBound(t, "udp", at.port)
	at.listen = false
	runTool(t, "ffmpeg", "-v", "error", "-nostdin", "-re", "-i", clip, "-map", "0", "-c", "copy",
		"-muxdelay", "0", "-muxpreload", "0", "-f", "mpegts", "http://weirline@"+addr+"/"+at.url(time.Millisecond, percent))
	sink.wait()
	rcv.stop()
	got := filepath.Join(t.TempDir(), "got.ts")
	if err := os.WriteFile(got, sink.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if g, w := streams(t, got), streams(t, clip); g != w {
		t.Errorf("received\n%s sent\n%s", g, w)
	}
}

// TestSidecarReceives: srt-live-transmit to ffmpeg by GET.
func TestSidecarReceives(t *testing.T) {
	slt.need(t)
	ffmpeg.need(t)
	t.Parallel()
	clip := makeClip(t, 3)
	data, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	addr := serve(t)
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, keyLen: 32, latency: onClean}
	sink := newCollector(1 << 40)
	viewer := start(t, sink, "ffmpeg", "-v", "error", "-nostdin", "-analyzeduration", "0", "-probesize", "500000", "-f", "mpegts",
		"-i", "http://"+addr+"/"+at.url(time.Millisecond, percent)+"&reconnect=0",
		"-map", "0", "-c", "copy", "-f", "streamhash", "-hash", "sha256", "-")
	proctest.WaitBound(t, "udp", at.port)
	at.listen = false
	snd := slt.send(t, at)
	time.Sleep(300 * time.Millisecond) // what it reads before it is connected it throws away
	// It takes ten full messages at a time: empty packets push the last ones out.
	if err := pace(snd, append(data, bytes.Repeat(nullPacket(), 12*7)...), rate); err != nil {
		t.Error(err)
	}
	time.Sleep(2 * onBad) // libsrt's close would throw the tail away
	snd.stop()
	select {
	case <-viewer.Exited:
	case <-time.After(proctest.Patience):
		t.Fatal("ffmpeg does not end with the connection")
	}
	if g, w := string(sink.bytes()), streams(t, clip); g != w {
		t.Errorf("received\n%s sent\n%s", g, w)
	}
}

func nullPacket() []byte {
	return append([]byte{0x47, 0x1F, 0xFF, 0x10}, bytes.Repeat([]byte{0xFF}, tsPacket-4)...)
}

// TestSidecarTellsARefusal: a wrong passphrase fails the open, by HTTP with the
// reason and in ffmpeg before a byte is sent.
func TestSidecarTellsARefusal(t *testing.T) {
	slt.need(t)
	ffmpeg.need(t)
	t.Parallel()
	addr := serve(t)
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, keyLen: 16, latency: onClean}
	slt.recv(t, at, newCollector(1))
	proctest.WaitBound(t, "udp", at.port)
	url := fmt.Sprintf("http://weirline@%s/srt://127.0.0.1:%d?passphrase=not%%20the%%20right%%20one", addr, at.port)
	out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "sine", "-t", "3",
		"-c:a", "mp2", "-f", "mpegts", url).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "403") {
		t.Errorf("ffmpeg ended with %v and said %q, want 403", err, out)
	}

	req, err := http.NewRequest(http.MethodPost, strings.Replace(url, "weirline@", "", 1), strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Expect", "100-continue")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("status %s, want 403", resp.Status)
	}
}
