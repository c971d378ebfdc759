package access_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
)

// The hook is asked about those who have the passphrase, and nobody else can have
// it asked, nor keep a publisher's place from him.
func TestHookIsAskedOnlyOfTheProven(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	r := newRig(t, config.Listener{
		Hook:  &config.Hook{URL: srv.URL},
		Users: []config.User{{Name: "ann", Passphrase: "the user's own", Publish: []string{"*"}, Play: []string{"*"}}, {Name: "bob", Play: []string{"*"}}},
	})
	t.Cleanup(srv.Close)
	r.publish("s", "the stream's own")
	r.play("s", "the stream's own")
	for range 5 {
		r.wantRefused("#!::r=s,u=ann", "the stream's own", srtcore.RejBadSecret, "passphrase")
		r.wantRefused("#!::r=s,m=publish,u=ann", "a guess of her", srtcore.RejBadSecret, "passphrase")
		r.wantRefused("#!::r=s,u=bob", "the user's own", srtcore.RejBadSecret, "passphrase")
		r.wantRefused("#!::r=s,u=bob", "", srtcore.RejUnsecure, "passphrase")
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the hook was asked %d times about callers without the passphrase", n)
	}
	r.mustCall("#!::r=s,m=publish,u=ann", "the user's own")
	r.mustCall("#!::r=s,u=bob", "the stream's own")
	if n := asked.Load(); n != 2 {
		t.Errorf("the hook was asked %d times, want 2", n)
	}
}

// many makes n calls at once and counts how they end, by code; 0 is accepted.
func (r *rig) many(n int, from, id, passphrase string) map[srtcore.RejectReason]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	ends := map[srtcore.RejectReason]int{}
	for range n {
		wg.Go(func() {
			_, err := r.callFrom(from, id, passphrase)
			var code srtcore.RejectReason
			if rej, ok := errors.AsType[*srtcore.RejectError](err); ok {
				code = rej.Reason
			} else if err != nil {
				r.t.Errorf("a call ended with %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			ends[code]++
		})
	}
	wg.Wait()
	return ends
}

// Who guesses passphrases is stopped, and others come in.
func TestWrongPassphrasesAreBounded(t *testing.T) {
	r := newRig(t, config.Listener{Passphrase: "the right one"})
	r.play("s", "")
	begun := time.Now()
	const guesses, batch = 400, 40
	ends := map[srtcore.RejectReason]int{}
	for range guesses / batch {
		for code, n := range r.many(batch, "127.0.0.2:0", "s", "the wrong one") {
			ends[code] += n
		}
	}
	most := 50 + batch + 10*int(time.Since(begun).Seconds()+1)
	if wrong := ends[srtcore.RejBadSecret]; wrong < 50 || wrong > most || wrong+ends[srtcore.RejOverload] != guesses {
		t.Errorf("%v; want 50..%d wrong passphrases and the rest turned away", ends, most)
	}
	r.mustCall("s", "the right one") // from another address
}

// One address does not have the hook asked without end.
func TestQuestionsOfOneAddressAreBounded(t *testing.T) {
	var asked atomic.Int32
	r := hookRig(t, 0, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
	})
	r.play("s", "")
	begun := time.Now()
	const calls, batch = 600, 100
	ends := map[srtcore.RejectReason]int{}
	for range calls / batch {
		for code, n := range r.many(batch, "127.0.0.2:0", "s", "") {
			ends[code] += n
		}
	}
	most := 256 + 50*int(time.Since(begun).Seconds()+1)
	if n := int(asked.Load()); n != ends[srtcore.RejForbidden] || n > most || n+ends[srtcore.RejOverload] != calls || most < calls && n == calls {
		t.Errorf("asked %d times, want at most %d; %v", n, most, ends)
	}
	r.wantRefused("s", "", srtcore.RejForbidden, "hook") // from another address
}

// A hook that hangs for the callers of one address answers those of others, who
// do not wait behind them.
func TestHookThatHangsForOneAddress(t *testing.T) {
	var hanging atomic.Int32
	release := make(chan struct{})
	r := hookRig(t, 1500*time.Millisecond, func(_ http.ResponseWriter, q *http.Request) {
		b := make([]byte, 1000)
		n, _ := q.Body.Read(b)
		if !containsPeer(b[:n], "127.0.0.2:") {
			return
		}
		hanging.Add(1)
		defer hanging.Add(-1)
		select {
		case <-release:
		case <-q.Context().Done():
		}
	})
	defer close(release)
	r.play("s", "")
	flooded, flood := time.Now(), make(chan map[srtcore.RejectReason]int, 1)
	go func() { flood <- r.many(150, "127.0.0.2:0", "s", "") }()
	r.soon("the hook to hang", func() bool { return hanging.Load() == 16 })
	for range 10 {
		begun := time.Now()
		r.mustCall("s", "")
		if d := time.Since(begun); d > 2*time.Second {
			t.Errorf("a caller from another address waited %v", d)
		}
	}
	// Later the server may not have noticed yet who has given up.
	if n := hanging.Load(); n != 16 && time.Since(flooded) < time.Second {
		t.Errorf("%d questions of one address at a time, want 16", n)
	}
	if ends := <-flood; ends[2504] != 150 {
		t.Errorf("%v, want 150 times 2504", ends)
	}
}

func containsPeer(body []byte, prefix string) bool {
	var q struct{ Peer string }
	return json.Unmarshal(body, &q) == nil && strings.HasPrefix(q.Peer, prefix)
}

// Undecided callers take no places away, and a route's places are held here, where
// the caller can still be told.
func TestPlacesOfARoute(t *testing.T) {
	release := make(chan struct{})
	r := hookRig(t, 2*time.Second, func(_ http.ResponseWriter, q *http.Request) {
		b := make([]byte, 1000)
		if n, _ := q.Body.Read(b); containsPeer(b[:n], "127.0.0.2:") {
			<-release
		}
	})
	r.play("s", "").(interface{ AtMost(int) }).AtMost(3)
	r.play("other", "")
	undecided := make(chan map[srtcore.RejectReason]int, 1)
	go func() { undecided <- r.many(10, "127.0.0.2:0", "s", "") }()
	c := r.mustCall("s", "")
	r.mustCall("s", "")
	r.mustCall("s", "")
	r.wantRefused("s", "", srtcore.RejOverload, "limit")
	r.mustCall("other", "")
	close(release)
	if ends := <-undecided; ends[0] != 0 {
		t.Errorf("%v, want nobody accepted", ends)
	}
	_ = c.Abort()
	r.soon("room", func() bool { return r.port.Snapshot().Connections == 3 })
	r.mustCall("s", "")
}
