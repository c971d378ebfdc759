package interop

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// The tests named C01 and so on are cases from the field: what once went wrong
// between two implementations, played again with the programs as they are.

// field is one connection of a case: who sends to whom, each end's own options,
// and what the network does to the media and to the answers.
type field struct {
	from, to           program
	callerSends        bool
	spec               spec // latency, key length, passphrase, size of messages
	sendMore, recvMore string
	media, answers     impair.Path
	want               int // bytes that end the wait for the receiver
}

// live is a field that is connected.
type live struct {
	trial
	snd         sender
	rcv         receiver
	sink        *collector
	relay       *impair.Relay
	connectedAt time.Time
}

func (f field) open(t *testing.T) *live {
	t.Helper()
	f.from.need(t)
	f.to.need(t)
	at := f.spec
	at.host, at.port, at.listen = "127.0.0.1", port.Free(t), true
	at.latency = cmp.Or(at.latency, onClean)
	cfg := impair.Config{Target: at.addr(), Seed: 1, Up: f.answers, Down: f.media}
	if f.callerSends {
		cfg.Up, cfg.Down = f.media, f.answers
	}
	relay, err := impair.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	out, in := at, at
	if f.callerSends {
		out.listen, out.port = false, relay.Port()
	} else {
		in.listen, in.port = false, relay.Port()
	}
	out.more, in.more = f.sendMore, f.recvMore
	l := &live{trial: trial{from: f.from, to: f.to, callerSends: f.callerSends}, relay: relay, sink: newCollector(f.want)}
	if f.callerSends {
		l.rcv = f.to.recv(t, in, l.sink)
		proctest.WaitBound(t, "udp", at.port)
		l.snd = f.from.send(t, out)
	} else {
		l.snd = f.from.send(t, out)
		proctest.WaitBound(t, "udp", at.port)
		l.rcv = f.to.recv(t, in, l.sink)
	}
	waitConnected(t, relay)
	l.connectedAt = time.Now()
	return l
}

// stats are the relay's counters, by what goes that way.
func (l *live) stats() (media, answers impair.Stats) {
	up, down := l.relay.Stats()
	if l.callerSends {
		return up, down
	}
	return down, up
}

// noise is content that nothing takes for a transport stream: it has no byte
// that could begin a packet.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(b)
	return bytes.ReplaceAll(b, []byte{0x47}, []byte{0x48})
}

// outcome is how a program ended that was expected to end by itself.
type outcome struct {
	code int
	said string
}

// runBinary runs weirline with empty input.
func runBinary(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(binary, args...)
	timer := time.AfterFunc(proctest.Patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{cmd.ProcessState.ExitCode(), string(said)}
}

// wantSays wants all of the texts in what a program said.
func (o outcome) wantSays(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.said, text) {
			t.Errorf("%s: it does not say %q, but (%d) %s", what, text, o.code, o.said)
		}
	}
}

// silentPort is a UDP port at which nothing is expected.
type silentPort struct{ *net.UDPConn }

func newSilentPort(t *testing.T) silentPort {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return silentPort{c}
}

func (s silentPort) addr() string { return s.LocalAddr().String() }

// wantSilence wants no packet so far: the first to be read is the test's own.
func (s silentPort) wantSilence(t *testing.T) {
	t.Helper()
	mine := []byte("mine")
	if _, err := s.WriteTo(mine, s.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2048)
	if n, err := s.Read(b); err != nil || !bytes.Equal(b[:n], mine) {
		t.Errorf("a packet was sent: % x, %v", b[:n], err)
	}
}
