package interop

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// C01: the answer to a libsrt caller's conclusion is lost, or comes after it has
// asked again. It is answered each time, and there is one connection.
func TestC01LostOrSlowConclusionResponse(t *testing.T) {
	slt.need(t)
	t.Parallel()
	const delay = 300 * time.Millisecond
	for name, tc := range map[string]struct {
		up, down impair.Path
		answers  uint64
	}{
		"lost": {down: impair.Path{Drop: []impair.Rule{{Kind: impair.Conclusion, Count: 1}}}, answers: 2},
		"slow": {up: impair.Path{Delay: delay}, down: impair.Path{Delay: delay}, answers: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := spec{host: "127.0.0.1", port: port.Free(t), latency: onClean}
			sink := newCollector(300 * message)
			accepted := acceptAll(t, at, sink)
			relay, err := impair.Start(impair.Config{Target: at.addr(), Up: tc.up, Down: tc.down})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(relay.Close)
			at.port = relay.Port()
			snd := slt.send(t, at)
			proctest.Eventually(t, "the conclusion is not answered again", func() bool {
				_, down := relay.Stats()
				return down.Kinds[impair.Conclusion] >= tc.answers
			})
			time.Sleep(2*delay + 300*time.Millisecond) // what it reads before it is connected it throws away
			data := transportStream(1, 300+padding)
			if err := pace(snd, data, 100*message*8); err != nil {
				t.Error(err)
			}
			sink.wait()
			wantPrefix(t, sink.bytes(), data, 300*message)
			up, down := relay.Stats()
			// One that comes while the first is being decided is answered with it.
			if up.Kinds[impair.Conclusion] > down.Kinds[impair.Conclusion]+1 {
				t.Errorf("%d conclusions, %d answers", up.Kinds[impair.Conclusion], down.Kinds[impair.Conclusion])
			}
			if n := accepted.count.Load(); n != 1 || accepted.ended.Load() != 0 {
				t.Errorf("%d connections were accepted, %d ended", n, accepted.ended.Load())
			}
		})
	}
}

// tally counts what a listener has seen.
type tally struct{ count, ended atomic.Int32 }

// acceptAll accepts every caller and puts what each sends into the sink.
func acceptAll(t *testing.T, at spec, sink io.Writer) *tally {
	t.Helper()
	l, err := srtcore.Listen(t.Context(), at.addr(), at.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	n := &tally{}
	go func() {
		for {
			c, err := l.Accept(t.Context())
			if err != nil {
				return
			}
			n.count.Add(1)
			go func() {
				defer c.Abort()
				b := make([]byte, 2048)
				for {
					k, err := c.Read(b)
					if errors.Is(err, srtcore.ErrClosed) {
						return
					}
					if err != nil {
						n.ended.Add(1)
						return
					}
					_, _ = sink.Write(b[:k])
				}
			}()
		}
	}()
	return n
}
