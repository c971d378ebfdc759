package ffmpeg

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// cells are what the far peer does.
var sendCells = map[string]func(*testing.T, hop){
	"well": sendWell, "refused": sendRefused, "absent": sendAbsent, "dying": sendDying, "returning": sendReturning,
}

var receiveCells = map[string]func(*testing.T, hop){
	"well": receiveWell, "refused": receiveRefused, "absent": receiveAbsent, "dying": receiveDying, "returning": receiveReturning,
}

func TestMatrix(t *testing.T) {
	run := func(direction string, cells map[string]func(*testing.T, hop)) {
		for name, cell := range cells {
			for _, h := range hops {
				if testing.Short() && name != "well" && (h.name != "http" || name == "dying") {
					continue
				}
				t.Run(direction+"/"+h.name+"/"+name, func(t *testing.T) { t.Parallel(); cell(t, h) })
			}
		}
	}
	run("send", sendCells)
	run("receive", receiveCells)
}

// ends ends a sidecar that does not end with ffmpeg: the daemon, and relays that
// wait for the next encoder.
func (s *sidecar) ends(t *testing.T, h hop, want int) {
	t.Helper()
	code := 0
	if h.name == "pipe" {
		code = s.Code()
	} else {
		code = s.stop()
	}
	if code != want {
		t.Errorf("the sidecar's exit code: %d, want %d", code, want)
	}
}

func sendWell(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	got := receive(t, "srt://:"+port+"?mode=listener&latency=120")
	local, s := h.send(t, "srt://127.0.0.1:"+port+"?latency=120")
	if h.name != "http" {
		got.connected()
	}
	s.encoder(t, bench.short, local).WantCode(0)
	if h.name != "pipe" {
		// A relay does not see the end of an encoder as its own.
		proctest.Eventually(t, "media goes on coming", func() bool {
			before := got.bytes()
			time.Sleep(500 * time.Millisecond)
			return got.bytes() == before
		})
	}
	s.ends(t, h, 0)
	framesOf(t, got.file()).wantAll(t, "received", framesOfClip(t, bench.short))
}

// A wrong passphrase: by HTTP ffmpeg is told before it sends; a relay ends with
// code 3, and ffmpeg finds nobody, except by UDP, where nobody can tell.
func sendRefused(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	receive(t, "srt://:"+port+"?mode=listener&passphrase=correct-horse")
	local, s := h.send(t, "srt://127.0.0.1:"+port+"?passphrase=battery-staple")
	if h.name == "udp" {
		s.WantCode(3)
		s.encoder(t, bench.short, local).WantCode(0)
		return
	}
	if !s.http && h.name != "pipe" {
		s.WantCode(3)
	}
	p := s.encoder(t, bench.long, local)
	p.WantCode(1)
	switch {
	case s.http:
		if !strings.Contains(p.Said.String(), "403") {
			t.Error("ffmpeg does not say 403")
		}
		s.ends(t, h, 0)
	case h.name == "pipe":
		s.WantCode(3)
	}
}

// Nobody there: by HTTP ffmpeg is told; otherwise the sidecar goes on trying and
// ffmpeg sends to its end.
func sendAbsent(t *testing.T, h hop) {
	local, s := h.send(t, "srt://127.0.0.1:"+strconv.Itoa(port.Free(t))+"?conntimeo=500")
	p := s.encoder(t, bench.short, local)
	if s.http {
		p.WantCode(1)
		if !strings.Contains(p.Said.String(), "5XX") {
			t.Error("ffmpeg does not say 5XX")
		}
		s.ends(t, h, 0)
		return
	}
	p.WantCode(0)
	s.ends(t, h, 4)
}

// The peer is killed and stays away: ffmpeg goes on to its end.
func sendDying(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	v := newViewer(t, "srt://:"+port+"?mode=listener")
	proctest.WaitBound(t, "udp", port)
	local, s := h.send(t, "srt://127.0.0.1:"+port+"?peeridletimeo=1000&conntimeo=500")
	p := s.encoder(t, bench.long, local)
	v.wantFirstData(5 * time.Second)
	p.WantRunning(time.Second)
	v.Kill()
	p.WantCode(0)
	code := 4
	if s.http {
		code = 0
	}
	s.ends(t, h, code)
	framesOf(t, v.file).wantPart(t, "before", framesOfClip(t, bench.long), 0.1, 1)
}

// The peer is killed and comes back: the same ffmpeg, and media again.
func sendReturning(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	far := "srt://:" + port + "?mode=listener"
	first := newViewer(t, far)
	proctest.WaitBound(t, "udp", port)
	local, s := h.send(t, "srt://127.0.0.1:"+port+"?peeridletimeo=1000")
	p := s.encoder(t, bench.long, local)
	first.wantFirstData(5 * time.Second)
	p.WantRunning(time.Second)
	first.Kill()
	p.WantRunning(500 * time.Millisecond)
	second := newViewer(t, far)
	p.WantCode(0)
	proctest.Eventually(t, "the second viewer gets nothing", func() bool { return settled(second) })
	s.ends(t, h, 0)
	second.leave()
	want := framesOfClip(t, bench.long)
	framesOf(t, first.file).wantPart(t, "before", want, 0.1, 1)
	after := framesOf(t, second.file)
	after.wantPart(t, "after", want, 0.25, 1)
	after.wantEnd(t, "after", want)
}

func receiveWell(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	local, s := h.receive(t, "srt://:"+port+"?mode=listener&latency=120&reconnect=0")
	p, file := s.recorder(t, local)
	send(t, "srt://127.0.0.1:"+port, bench.short, 2).done()
	p.WantCode(0)
	if s.http {
		s.ends(t, h, 0)
	} else {
		s.WantCode(0)
	}
	framesOf(t, file).wantAll(t, "received", framesOfClip(t, bench.short))
}

// A caller with a wrong passphrase is refused, and the one after it served: the
// same ffmpeg waits for it.
func receiveRefused(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	local, s := h.receive(t, "srt://:"+port+"?mode=listener&passphrase=correct-horse&reconnect=0")
	p, file := s.recorder(t, local)
	proctest.WaitBound(t, "udp", port)
	bad := start(t, nil, nil, words("ffmpeg -nostdin -v error -re -i "+bench.short+" -c copy -f mpegts srt://127.0.0.1:"+port+"?passphrase=battery-staple")...)
	bad.WantCode(1)
	p.WantRunning(0)
	send(t, "srt://127.0.0.1:"+port+"?passphrase=correct-horse", bench.short, 2).done()
	p.WantCode(0)
	if s.http {
		s.ends(t, h, 0)
	}
	framesOf(t, file).wantAll(t, "received", framesOfClip(t, bench.short))
}

// Nobody calls in time: ffmpeg fails, a relay ends with code 4.
func receiveAbsent(t *testing.T, h hop) {
	local, s := h.receive(t, "srt://:"+strconv.Itoa(port.Free(t))+"?mode=listener&listen_timeout=1s")
	p, _ := s.recorder(t, local)
	p.WantCode(1)
	if s.http {
		s.ends(t, h, 0)
		return
	}
	s.WantCode(4)
}

// liveSender can be killed.
func liveSender(t *testing.T, port string) *proctest.Process {
	t.Helper()
	return start(t, nil, nil, words("ffmpeg -nostdin -v error -re -i "+bench.long+" -map 0 -c copy "+flatOut+"srt://127.0.0.1:"+port)...)
}

// The sender is killed and stays away: ffmpeg waits until the sidecar is stopped,
// and has what came.
func receiveDying(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	local, s := h.receive(t, "srt://:"+port+"?mode=listener&peeridletimeo=1000")
	p, file := s.recorder(t, local)
	proctest.WaitBound(t, "udp", port)
	sender := liveSender(t, port)
	proctest.Eventually(t, "hardly anything is recorded", func() bool { return sizeOf(file) > 250000 })
	sender.Kill()
	p.WantRunning(2 * time.Second)
	if code := s.stop(); code != 0 {
		t.Errorf("the sidecar's exit code: %d, want 0", code)
	}
	p.WantCode(0)
	framesOf(t, file).wantPart(t, "before", framesOfClip(t, bench.long), 0.15, 1)
}

// The sender is killed and another comes: the same ffmpeg records both.
func receiveReturning(t *testing.T, h hop) {
	port := strconv.Itoa(port.Free(t))
	local, s := h.receive(t, "srt://:"+port+"?mode=listener&peeridletimeo=1000")
	p, file := s.recorder(t, local)
	proctest.WaitBound(t, "udp", port)
	sender := liveSender(t, port)
	proctest.Eventually(t, "hardly anything is recorded", func() bool { return sizeOf(file) > 250000 })
	sender.Kill()
	p.WantRunning(500 * time.Millisecond)
	send(t, "srt://127.0.0.1:"+port, bench.short, 2).done()
	p.WantRunning(0)
	s.Signal(syscall.SIGTERM)
	p.WantCode(0)
	got := framesOf(t, file)
	both := frames{}
	for stream, list := range framesOfClip(t, bench.long) {
		both[stream] = append(append(both[stream], list[:len(list)*4/5]...), framesOfClip(t, bench.short)[stream]...)
	}
	got.wantPart(t, "both", both, 0.3, 1)
	got.wantEnd(t, "the second", framesOfClip(t, bench.short))
}
