package daemon

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/tests/port"
)

// A hook that hangs holds up nobody but those it is asked about: the players that
// are connected, callers that the rules refuse, the other listener and a reload go
// on as ever. Those it hangs for are refused in time, with the code for it.
func TestAHangingHookStallsNobodyElse(t *testing.T) {
	var hang atomic.Bool
	var hanging atomic.Int32
	release := make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if hang.Load() {
			hanging.Add(1)
			select {
			case <-release:
			case <-q.Context().Done():
			}
		}
	}))
	defer hook.Close()
	defer close(release)
	second := port.Free(t)
	routes := fmt.Sprintf(`  - name: asks
    address: 'srt://127.0.0.1:%d?latency=120'
    hook: { url: '%s/', timeout: 2s }
routes:
`, second, hook.URL)
	asks := fmt.Sprintf("127.0.0.1:%d", second)
	route := func(name, listener string) string {
		return fmt.Sprintf("  - { name: %[1]s, sources: [ { publish: { listener: %[2]s, stream: a } } ], outputs: [ { play: { listener: %[2]s, stream: a } } ] }\n", name, listener)
	}
	r := newRig(t, routes+route("free", "main")+route("asked", "asks"))
	dial := func(address, id string) (*srtcore.Conn, error) {
		cfg := srtcore.DefaultConfig()
		cfg.StreamID, cfg.RcvLatency, cfg.ConnTimeout = id, 500*time.Millisecond, patience/2
		c, err := srtcore.Dial(r.ctx, address, &cfg)
		if err == nil {
			t.Cleanup(func() { c.Abort() })
		}
		return c, err
	}
	must := func(address, id string) *srtcore.Conn {
		t.Helper()
		c, err := dial(address, id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		return c
	}
	player, publisher := must(asks, "#!::r=a"), must(asks, "#!::r=a,m=publish")
	r.up("asked", 1)
	hang.Store(true)

	var callers sync.WaitGroup
	for range 30 {
		callers.Go(func() {
			begun := time.Now()
			_, err := dial(asks, "#!::r=a")
			if !errors.Is(err, &srtcore.RejectError{Reason: 2504}) || time.Since(begun) < time.Second {
				t.Errorf("%v after %v", err, time.Since(begun))
			}
		})
	}
	r.eventually("the hook to hang", func() bool { return hanging.Load() > 10 })
	begun := time.Now()
	freePlayer, freePublisher := must(r.address(), "#!::r=a"), must(r.address(), "#!::r=a,m=publish")
	r.up("free", 1)
	if _, err := dial(asks, "#!::r=none"); !errors.Is(err, &srtcore.RejectError{Reason: srtcore.RejNotFound}) {
		t.Errorf("a caller whom the rules refuse: %v", err)
	}
	if err := r.Reload(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 1500*time.Millisecond {
		t.Errorf("the others took %v", took)
	}
	const n = 200
	callers.Go(func() { r.feed(publisher, 'a', 0, n) })
	callers.Go(func() { r.feed(freePublisher, 'b', 0, n) })
	r.wantStream(player, 'a', 0, n)
	r.wantStream(freePlayer, 'b', 0, n)
	callers.Wait()
	for _, l := range r.Listeners() {
		if l.Name == "asks" && (l.Refused["hook-failed"] != 30 || l.Connections != 2) || l.Name == "main" && l.Connections != 2 {
			t.Errorf("%+v", l)
		}
	}
}

// Players over max-players are told so in the handshake; one that is kicked ends
// alone and makes room.
func TestPlayersOverTheLimitAndKicked(t *testing.T) {
	r := newRig(t, "routes:\n  - name: a\n    max-players: 3\n    source: { publish: { listener: main, stream: a } }\n    outputs: [ { play: { listener: main, stream: a } } ]\n")
	publisher := r.publish("a")
	var players []*srtcore.Conn
	for i := range 3 {
		players = append(players, r.playerAt(r.address(), fmt.Sprint("p", i), time.Second))
	}
	r.up("a", 3)
	if _, err := r.tryPlayer(r.address(), "over", time.Second); !errors.Is(err, &srtcore.RejectError{Reason: srtcore.RejOverload}) {
		t.Errorf("one player too many: %v", err)
	}
	const n = 50
	r.feed(publisher, 'a', 0, n)
	r.eventually("these to have passed", func() bool { return r.Routes()[0].Media.Messages == n })
	if err := r.Kick(r.session("p1").ID); err != nil {
		t.Fatal(err)
	}
	r.up("a", 2)
	again := r.playerAt(r.address(), "again", time.Second)
	r.up("a", 3)
	r.feed(publisher, 'a', n, 2*n)
	r.wantStream(players[0], 'a', 0, 2*n)
	r.wantStream(players[2], 'a', 0, 2*n)
	r.wantStream(again, 'a', n, 2*n)
	r.eventually("the kicked one to know", func() bool { return players[1].Err() != nil })
	if err := r.Kick("c0"); err == nil {
		t.Error("nobody was kicked")
	}
}
