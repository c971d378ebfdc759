package interop

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// bad is the network of the impaired half of the matrix, each way.
var bad = impair.Path{Loss: 0.01, Reorder: 0.05, Delay: 40 * time.Millisecond}

// onBad is the latency there: four round trips and some.
const (
	onBad   = 400 * time.Millisecond
	onClean = 120 * time.Millisecond
)

// trial is one connection of the matrix.
type trial struct {
	from, to     program
	callerSends  bool
	keyLen       int
	v6, impaired bool
	seed         uint64
}

func (tr trial) name() string {
	who := "listenerSends"
	if tr.callerSends {
		who = "callerSends"
	}
	crypt, family, network := "plain", "v4", "clean"
	if tr.keyLen > 0 {
		crypt = fmt.Sprintf("aes%d", 8*tr.keyLen)
	}
	if tr.v6 {
		family = "v6"
	}
	if tr.impaired {
		network = "impaired"
	}
	return fmt.Sprintf("%s_to_%s/%s_%s_%s_%s", tr.from.name, tr.to.name, who, crypt, family, network)
}

var keyLens = []int{0, 16, 24, 32}

// matrix lists the trials of us with one peer: the full product, or the part in
// which each of direction, role and key length meets each other and family and
// network take turns.
func matrix(us, peer program, all bool) (out []trial) {
	n := 0
	for _, weSend := range []bool{true, false} {
		for _, callerSends := range []bool{true, false} {
			for k, keyLen := range keyLens {
				for v := range 4 {
					n++
					if !all && v != (k+n/16)%4 {
						continue
					}
					tr := trial{from: us, to: peer, callerSends: callerSends, keyLen: keyLen, v6: v&1 != 0, impaired: v&2 != 0, seed: uint64(n)}
					if !weSend {
						tr.from, tr.to = peer, us
					}
					out = append(out, tr)
				}
			}
		}
	}
	return out
}

func runMatrix(t *testing.T, us, peer program, all bool) {
	t.Helper()
	us.need(t)
	peer.need(t)
	for _, tr := range matrix(us, peer, all) {
		t.Run(tr.name(), func(t *testing.T) {
			t.Parallel()
			tr.run(t)
		})
	}
}

func TestSRTLiveTransmit(t *testing.T) { runMatrix(t, weirline, slt, full()) }
func TestFFmpeg(t *testing.T)          { runMatrix(t, weirline, ffmpeg, full()) }
func TestGStreamer(t *testing.T)       { runMatrix(t, weirline, gstreamer, full()) }
func TestItself(t *testing.T)          { runMatrix(t, weirline, weirline, full()) }
func TestLibrary(t *testing.T)         { runMatrix(t, library, slt, full()) }

// TestControl runs libsrt's tool against itself through the same relay and the
// same checks: if this fails, the fault is not ours.
func TestControl(t *testing.T) {
	slt.need(t)
	for _, tr := range []trial{
		{from: slt, to: slt, callerSends: true, seed: 1},
		{from: slt, to: slt, callerSends: false, keyLen: 16, v6: true, impaired: true, seed: 2},
	} {
		t.Run(tr.name(), func(t *testing.T) {
			t.Parallel()
			tr.run(t)
		})
	}
}

const (
	messages = 900
	padding  = 16
	rate     = 6e6 // bits per second
)

// content returns what is sent and how much of it must arrive: all of it if we
// send. libsrt does not repair a lost last packet, because it waits for a loss
// report that nobody can send who has seen nothing after the gap; so something
// follows what counts.
func (tr trial) content() (data []byte, want int) {
	if tr.from.ours {
		return transportStream(tr.seed, messages), messages * message
	}
	return transportStream(tr.seed, messages+padding), messages * message
}

// run makes the connection, sends, and compares.
func (tr trial) run(t *testing.T) {
	data, want := tr.content()
	host, latency, path := "127.0.0.1", onClean, impair.Path{}
	if tr.v6 {
		host = "::1"
	}
	if tr.impaired {
		latency, path = onBad, bad
	}
	listener := spec{host: host, port: port.Free(t), listen: true, keyLen: tr.keyLen, latency: latency}
	relay, err := impair.Start(impair.Config{Listen: spec{host: host}.addr(), Target: listener.addr(), Seed: tr.seed, Up: path, Down: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(relay.Close)
	caller := listener
	caller.listen, caller.port = false, relay.Port()

	sink := newCollector(want)
	var snd sender
	var rcv receiver
	rest := data
	if tr.callerSends {
		rcv = tr.to.recv(t, listener, sink)
		proctest.WaitBound(t, "udp", listener.port)
		snd, rest = tr.startSender(t, caller, data)
	} else {
		snd, rest = tr.startSender(t, listener, data)
		proctest.WaitBound(t, "udp", listener.port)
		rcv = tr.to.recv(t, caller, sink)
	}
	waitConnected(t, relay)
	if err := pace(snd, rest, rate); err != nil {
		t.Errorf("writing to the sender: %v", err)
	}
	tr.finish(t, snd, rcv)
	wantPrefix(t, sink.bytes(), data, want)
	if t.Failed() {
		up, down := relay.Stats()
		t.Logf("relay, caller to listener: %+v\nrelay, listener to caller: %+v", up, down)
	}
}

// startSender starts the sending end; one that opens its output only when it has
// read something gets a little ahead. It returns what is still to be sent.
func (tr trial) startSender(t *testing.T, s spec, data []byte) (sender, []byte) {
	t.Helper()
	snd := tr.from.send(t, s)
	if !tr.from.eager {
		return snd, data
	}
	const ahead = 8 * message
	if _, err := snd.Write(data[:ahead]); err != nil {
		t.Fatal(err)
	}
	return snd, data[ahead:]
}

// waitConnected waits for the listener's answer to the conclusion to pass the
// relay, and then for the ends to notice.
func waitConnected(t *testing.T, relay *impair.Relay) {
	t.Helper()
	proctest.Eventually(t, "the handshake does not end", func() bool {
		_, down := relay.Stats()
		return down.Kinds[impair.Conclusion] > 0
	})
	time.Sleep(300 * time.Millisecond)
}

// finish ends the connection. We may be told at once that there is no more: the
// tail must arrive all the same. A libsrt sender is left alone until the receiver
// has everything, or libsrt's close would throw the tail away: SHUTDOWN makes a
// libsrt receiver drop what is not yet due, and a libsrt sender does not wait.
func (tr trial) finish(t *testing.T, snd sender, rcv receiver) {
	t.Helper()
	if tr.from.ours {
		if err := snd.finish(); err != nil {
			t.Errorf("the sender ended with %v", err)
		}
	} else {
		if tr.to.ours {
			rcv.content().wait()
		} else {
			time.Sleep(2 * onBad)
		}
		snd.stop()
	}
	rcv.content().wait()
	rcv.stop()
	// What comes after the expected end would be wrong too.
	select {
	case <-rcv.content().done:
	case <-time.After(proctest.Patience):
		t.Error("the receiver does not end")
	}
}
