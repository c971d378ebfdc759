package access_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
)

// hookRig is a port whose hook is the handler.
func hookRig(t *testing.T, timeout time.Duration, h http.HandlerFunc) *rig {
	t.Helper()
	srv := httptest.NewServer(h)
	r := newRig(t, config.Listener{Hook: &config.Hook{URL: srv.URL + "/ask?key=hunter2secret", Timeout: timeout}})
	t.Cleanup(srv.Close) // before the rig counts goroutines
	return r
}

func TestHookIsTold(t *testing.T) {
	type question struct{ Peer, StreamID, Mode, Stream, User, Listener string }
	asked := make(chan question, 1)
	r := hookRig(t, 0, func(w http.ResponseWriter, q *http.Request) {
		var got question
		if err := json.NewDecoder(q.Body).Decode(&got); err != nil || q.Method != http.MethodPost || q.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", q.Method, q.Header, err)
		}
		asked <- got
		w.WriteHeader(http.StatusNoContent)
	})
	r.publish("live/a", "")
	c := r.mustCall("#!::r=live/a,m=publish,u=ann,token=x", "")
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	want := question{"127.0.0.1:" + port, "#!::r=live/a,m=publish,u=ann,token=x", "publish", "live/a", "ann", "main"}
	if got := <-asked; got != want {
		t.Errorf("asked %+v, want %+v", got, want)
	}
	r.wantRefused("unknown", "", srtcore.RejNotFound, "stream")
	if len(asked) != 0 {
		t.Error("the hook was asked about a caller that the rules refuse")
	}
}

func TestHookStatus(t *testing.T) {
	var status atomic.Int32
	r := hookRig(t, 0, func(w http.ResponseWriter, q *http.Request) {
		if status.Load() == http.StatusFound {
			http.Redirect(w, q, "/elsewhere", http.StatusFound)
			return
		}
		w.WriteHeader(int(status.Load()))
	})
	r.play("s", "")
	for _, c := range []struct {
		status int
		code   srtcore.RejectReason
		reason string
	}{
		{401, srtcore.RejUnauthorized, "hook"}, {403, srtcore.RejForbidden, "hook"}, {404, srtcore.RejNotFound, "hook"},
		{409, srtcore.RejConflict, "hook"}, {429, srtcore.RejOverload, "hook"}, {418, srtcore.RejForbidden, "hook"},
		{500, srtcore.RejServerError, "hook-failed"}, {503, srtcore.RejServerError, "hook-failed"}, {302, srtcore.RejServerError, "hook-failed"},
	} {
		status.Store(int32(c.status))
		r.wantRefused("s", "", c.code, c.reason)
	}
	for _, ok := range []int32{200, 204, 299} {
		status.Store(ok)
		r.mustCall("s", "")
	}
	if strings.Contains(r.log.String(), "hunter2") {
		t.Errorf("the log has the key of the hook's URL: %s", r.log)
	}
}

// A hook that nobody serves, that hangs up or that talks without end refuses, and
// says so soon.
func TestBrokenHooks(t *testing.T) {
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	deadURL := "http://" + dead.Addr().String() + "/?key=hunter2secret"
	_ = dead.Close()
	r := newRig(t, config.Listener{Hook: &config.Hook{URL: deadURL}})
	r.play("s", "")
	begun := time.Now()
	r.wantRefused("s", "", srtcore.RejServerError, "hook-failed")
	if d := time.Since(begun); d > time.Second || strings.Contains(r.log.String(), "hunter2") {
		t.Errorf("after %v; log: %s", d, r.log)
	}

	answer := map[string]http.HandlerFunc{
		"hangs-up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"huge-header": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
			w.WriteHeader(200)
		},
		"huge-body": func(w http.ResponseWriter, q *http.Request) {
			b := make([]byte, 1<<20)
			for q.Context().Err() == nil {
				if _, err := w.Write(b); err != nil {
					return
				}
			}
		},
	}
	for name, h := range answer {
		t.Run(name, func(t *testing.T) {
			r := hookRig(t, time.Second, h)
			r.play("s", "")
			if name == "huge-body" { // the status was 200, and nobody reads the rest
				r.mustCall("s", "")
				return
			}
			r.wantRefused("s", "", srtcore.RejServerError, "hook-failed")
		})
	}
}

// A hook that does not answer refuses after its timeout. Meanwhile others come,
// are refused and are served as ever.
func TestSlowHookStallsNobody(t *testing.T) {
	release := make(chan struct{})
	var slow atomic.Bool
	r := hookRig(t, 700*time.Millisecond, func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if slow.Load() {
			select {
			case <-release:
			case <-q.Context().Done():
			}
		}
	})
	defer close(release)
	in := r.publish("in", "")
	r.play("out", "")
	c := r.mustCall("in", "")
	src := r.openSource(in)
	slow.Store(true)

	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			begun := time.Now()
			_, err := r.call("out", "")
			if !errors.Is(err, &srtcore.RejectError{Reason: 2504}) || time.Since(begun) > 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(begun))
			}
		})
	}
	waiting := make(chan struct{})
	go func() { wg.Wait(); close(waiting) }()
	msgs, sent := make([][]byte, 64), 0
	for calls := 0; ; calls++ {
		select {
		case <-waiting:
			if calls < 5 {
				t.Errorf("only %d calls while the hook hung", calls)
			}
			if n := r.port.Snapshot(); n.Connections != 1 || n.Refused["hook-failed"] != 100 {
				t.Errorf("snapshot %+v", n)
			}
			return
		default:
		}
		begun := time.Now()
		r.wantRefused("nothing", "", srtcore.RejNotFound, "stream")
		if d := time.Since(begun); d > 500*time.Millisecond {
			t.Errorf("refused after %v while the hook hung", d)
		}
		if _, err := c.Write(message(sent)); err != nil {
			t.Fatal(err)
		}
		n, err := src.ReadBatch(msgs)
		if err != nil || n != 1 {
			t.Fatalf("ReadBatch = %d, %v", n, err)
		}
		if i, err := indexOf(msgs[0]); err != nil || i != sent {
			t.Fatalf("message %d, %v", i, err)
		}
		sent++
	}
}

// Closing the port does not wait for the hook, and a new hook is asked at once.
func TestHookChanges(t *testing.T) {
	var asked [2]atomic.Int32
	var urls [2]string
	for i := range asked {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked[i].Add(1)
			w.Header().Set("Content-Length", strconv.Itoa(2))
			fmt.Fprint(w, "ok")
		}))
		defer srv.Close()
		urls[i] = srv.URL
	}
	cfg := config.Listener{Name: "main", Address: "srt://127.0.0.1:0", Hook: &config.Hook{URL: urls[0]}}
	r := newRig(t, cfg)
	r.play("s", "")
	r.mustCall("s", "")
	cfg.Hook = &config.Hook{URL: urls[1]}
	if err := r.port.Update(cfg); err != nil {
		t.Fatal(err)
	}
	r.mustCall("s", "")
	cfg.Hook = nil
	if err := r.port.Update(cfg); err != nil {
		t.Fatal(err)
	}
	r.mustCall("s", "")
	if a, b := asked[0].Load(), asked[1].Load(); a != 1 || b != 1 {
		t.Errorf("asked %d and %d times, want once each", a, b)
	}
}
