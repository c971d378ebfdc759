package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/proctest"
)

// C16: a file is relayed and the relay ends. The receiver has the whole file,
// with srt-live-transmit too, whose library throws away at SHUTDOWN what is not
// yet due; and the sender is gone in time.
func TestC16WholeFileAtClose(t *testing.T) {
	t.Parallel()
	for i, latency := range []time.Duration{120 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second} {
		for j, to := range []program{slt, weirline} {
			t.Run(fmt.Sprintf("%s_%v", to.name, latency), func(t *testing.T) {
				t.Parallel()
				closesWhole(t, to, latency, (i+j)%2 == 0)
			})
		}
	}
}

const closeMargin = time.Second // for what a loaded machine adds to a process's end

func closesWhole(t *testing.T, to program, latency time.Duration, callerSends bool) {
	data := transportStream(16, 300)
	name := filepath.Join(t.TempDir(), "in.ts")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile := weirline
	fromFile.send = func(t *testing.T, s spec) sender {
		return start(t, nil, binary, "relay", "file://"+name, s.url(time.Millisecond, percent))
	}
	f := field{from: fromFile, to: to, callerSends: callerSends, spec: spec{latency: latency}, want: len(data)}
	if to.ours {
		f.recvMore = "&reconnect=0"
	}
	l := f.open(t)
	snd := l.snd.(*process)
	select {
	case <-snd.Exited:
	case <-time.After(proctest.Patience):
		t.Fatal("the sender does not end")
	}
	if took := time.Since(l.connectedAt); snd.Err != nil || took > latency+time.Second+closeMargin {
		t.Errorf("the sender ended with %v, %v after the handshake", snd.Err, took)
	}
	if to.ours { // the end of the stream ends it, after the last packet
		rcv := l.rcv.(*process)
		select {
		case <-rcv.Exited:
		case <-time.After(proctest.Patience):
			t.Fatal("the receiver does not end with the stream")
		}
		if rcv.Err != nil {
			t.Errorf("the receiver ended with %v", rcv.Err)
		}
	}
	l.sink.wait()
	l.rcv.stop()
	wantPrefix(t, l.sink.bytes(), data, len(data))
}
