package interop

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// waitText waits until a program has said something, and returns when.
func (p *process) waitText(t *testing.T, text string, count int) time.Time {
	t.Helper()
	proctest.Eventually(t, fmt.Sprintf("it does not say %q %d times", text, count), func() bool { return strings.Count(p.Said.String(), text) >= count })
	return time.Now()
}

// feedAll writes the same message to a program until the end of the test.
func feedAll(t *testing.T, p *process, msg []byte) {
	t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if _, err := p.Write(msg); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() { close(stop); wg.Wait() })
}

// viewer starts a caller that receives, and wants data within a second.
func viewer(t *testing.T, prog program, s spec) *process {
	t.Helper()
	sink := newCollector(message)
	begun := time.Now()
	v := prog.recv(t, s, sink).(*process)
	sink.wait()
	if took := time.Since(begun); len(sink.bytes()) == 0 || took > time.Second+s.latency+500*time.Millisecond {
		t.Errorf("the first of %d bytes took %v; the viewer said %s", len(sink.bytes()), took, v.Said.String())
	}
	return v
}

// C18: a caller is killed and comes back at once, from its old port and then
// from another. It is served without delay, and the dead one is noticed after
// the peer idle time.
func TestC18KilledCallerComesBack(t *testing.T) {
	t.Parallel()
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, latency: onClean}
	server := start(t, nil, binary, "relay", "-", at.url(time.Millisecond, percent))
	feedAll(t, server, transportStream(18, 1))
	proctest.WaitBound(t, "udp", at.port)
	at.listen = false
	from := func(port int) spec {
		s := at
		s.more = fmt.Sprintf("&bind=127.0.0.1:%d", port)
		return s
	}
	const up, ended = `msg="output up"`, `msg="output ended"`
	old, next := port.Free(t), port.Free(t)

	var died []time.Time
	for range 2 {
		viewer(t, weirline, from(old)).Kill()
		died = append(died, time.Now())
	}
	viewer(t, weirline, from(next))
	server.waitText(t, up, 3)
	for i, at := range died {
		if took := server.waitText(t, ended, i+1).Sub(at); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("dead caller %d was noticed after %v, want 5 s", i, took)
		}
	}
	if n := strings.Count(server.Said.String(), fmt.Sprintf("peer=127.0.0.1:%d", next)); n != 1 {
		t.Errorf("the living caller is spoken of %d times", n)
	}
	select {
	case <-server.Exited:
		t.Error("the server has ended")
	default:
	}
}

// C18: the same for a sender that is killed, by libsrt and by us: the listening
// receiver goes over to the new one at once.
func TestC18KilledSenderComesBack(t *testing.T) {
	slt.need(t)
	t.Parallel()
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, latency: onClean}
	sink := newCollector(1 << 40)
	receiver := start(t, sink, binary, "relay", at.url(time.Millisecond, percent), "-")
	proctest.WaitBound(t, "udp", at.port)
	at.listen = false
	at.more = fmt.Sprintf("&port=%d", port.Free(t))
	for i, from := range []program{slt, weirline, slt} {
		begun, msg := time.Now(), transportStream(uint64(i), 1)
		snd := from.send(t, at).(*process)
		feedAll(t, snd, msg)
		proctest.Eventually(t, from.name+": nothing is received", func() bool { return bytes.Contains(sink.bytes(), msg) })
		if took := time.Since(begun); took > time.Second+at.latency+500*time.Millisecond {
			t.Errorf("caller %d: the first message took %v", i, took)
		}
		snd.Kill()
	}
	if strings.Contains(receiver.Said.String(), "trying again") {
		t.Errorf("it said %s", receiver.Said.String())
	}
}

// rss is the resident memory of a process in KiB.
func rss(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Fatalf("no VmRSS of %d: it has ended", pid)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// encoder starts ffmpeg with a live picture and the daemon as its output.
func encoder(t *testing.T, daemonAt, target string) *process {
	t.Helper()
	return start(t, nil, "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25",
		"-c:v", "mpeg2video", "-b:v", "2M", "-g", "25", "-f", "mpegts", "http://"+daemonAt+"/"+target)
}

// wantCalm wants the encoder and the daemon alive with the memory they had, and
// the encoder ending well when it is told to.
func wantCalm(t *testing.T, enc, d *process, encBefore, dBefore int) {
	t.Helper()
	const growth = 24 << 10 // KiB; the buffers of two connections
	if g := rss(t, enc.Pid()) - encBefore; g > growth {
		t.Errorf("the encoder grew by %d KiB", g)
	}
	if g := rss(t, d.Pid()) - dBefore; g > growth {
		t.Errorf("the daemon grew by %d KiB", g)
	}
	if _, err := enc.Write([]byte("q")); err != nil {
		t.Errorf("the encoder has ended: %v", err)
	}
	select {
	case <-enc.Exited:
		if enc.Err != nil {
			t.Errorf("the encoder ended with %v", enc.Err)
		}
	case <-time.After(proctest.Patience):
		t.Error("the encoder does not end")
	}
}

// C23: viewers of an encoder's listening output come and go, by SHUTDOWN and by
// force. The encoder notices nothing.
func TestC23ViewersComeAndGo(t *testing.T) {
	ffmpeg.need(t)
	slt.need(t)
	t.Parallel()
	daemonAt, d := daemon(t)
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, latency: onClean}
	enc := encoder(t, daemonAt, at.url(time.Millisecond, percent))
	proctest.WaitBound(t, "udp", at.port)
	at.listen = false
	first := viewer(t, weirline, at)
	encBefore, dBefore := rss(t, enc.Pid()), rss(t, d.Pid())
	second := viewer(t, slt, at) // two at once
	first.stop()
	second.Kill()
	for i, prog := range []program{weirline, weirline, slt} {
		v := viewer(t, prog, at)
		if i == 1 {
			v.Kill()
		} else {
			v.stop()
		}
	}
	wantCalm(t, enc, d, encBefore, dBefore)
}

// C23: the far listener of an encoder restarts; media flows again soon after it
// is back.
func TestC23FarListenerRestarts(t *testing.T) {
	ffmpeg.need(t)
	slt.need(t)
	t.Parallel()
	daemonAt, d := daemon(t)
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, latency: onClean}
	caller := at
	caller.listen = false
	enc := encoder(t, daemonAt, caller.url(time.Millisecond, percent))
	var encBefore, dBefore int
	for i, gap := range []time.Duration{0, 500 * time.Millisecond, time.Second, 2 * time.Second} {
		time.Sleep(gap)
		sink := newCollector(20 * message)
		far := weirline.recv(t, at, sink).(*process)
		begun := time.Now()
		sink.wait()
		// A call waits for its answer, and after a failure the next one for up to
		// what the gap has brought the back-off to.
		if took := time.Since(begun); len(sink.bytes()) < sink.want || took > 3*time.Second+2*gap+time.Second {
			t.Errorf("restart %d: %d bytes after %v", i, len(sink.bytes()), took)
		}
		if i == 0 {
			encBefore, dBefore = rss(t, enc.Pid()), rss(t, d.Pid())
		}
		if i%2 == 0 {
			far.stop()
		} else {
			far.Kill()
		}
	}
	last := newCollector(message)
	far := weirline.recv(t, at, last)
	last.wait()
	wantCalm(t, enc, d, encBefore, dBefore)
	far.stop()
}

// C23: giving up after a time without a peer has an exit code of its own, and a
// source that ends well is delivered and ends with 0.
func TestC23ExitCodes(t *testing.T) {
	t.Parallel()
	nobody := newSilentPort(t)
	cmd := exec.Command(binary, "relay", "--timeout", "1s", "-", "srt://"+nobody.addr()+"?connect_timeout=300ms")
	in, err := cmd.StdinPipe() // a source that does not end
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	begun := time.Now()
	_ = cmd.Run()
	if code, took := cmd.ProcessState.ExitCode(), time.Since(begun); code != 5 || took > 4*time.Second {
		t.Errorf("without a peer: exit code %d after %v, want 5 after 1 s", code, took)
	}
	name := filepath.Join(t.TempDir(), "out")
	at := spec{host: "127.0.0.1", port: port.Free(t), listen: true, latency: onClean, more: "&reconnect=0"}
	rcv := start(t, nil, binary, "relay", at.url(time.Millisecond, percent), "file://"+name)
	proctest.WaitBound(t, "udp", at.port)
	at.listen, at.more = false, ""
	if got := feed(t, at.url(time.Millisecond, percent)); got.code != 0 {
		t.Errorf("a source that ends: exit code %d", got.code)
	}
	<-rcv.Exited
	if got, err := os.ReadFile(name); rcv.Err != nil || err != nil || string(got) != string(noise(message)) {
		t.Errorf("received %d bytes, %v, %v", len(got), rcv.Err, err)
	}
}
