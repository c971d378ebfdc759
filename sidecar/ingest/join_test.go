package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/route"
)

// putter is a client of a server whose sessions wait for join.
type putter struct {
	t      *testing.T
	h      *Handler
	url    string
	client *http.Client
	agent  string
}

func newPutter(t *testing.T, f *fakeEnd, join time.Duration) *putter {
	t.Helper()
	h := &Handler{Join: join, Parse: func(string) (End, error) { return f, nil }}
	s := httptest.NewServer(h)
	p := &putter{t: t, h: h, url: s.URL + "/srt://h:1", client: &http.Client{Transport: &http.Transport{}}, agent: "test"}
	t.Cleanup(func() {
		p.client.CloseIdleConnections()
		s.Close()
		h.finishJoins()
	})
	return p
}

// put returns status and text. at is where the piece begins; negative: not said.
func (p *putter) put(body string, at int) (int, string) {
	p.t.Helper()
	return p.send("PUT", strings.NewReader(body), at)
}

func (p *putter) send(method string, body io.Reader, at int) (int, string) {
	req, err := http.NewRequest(method, p.url, body)
	if err != nil {
		p.t.Error(err)
		return 0, ""
	}
	req.Header.Set("User-Agent", p.agent)
	if at >= 0 {
		req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/*", at, at+len(p.t.Name())))
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func (p *putter) want(code int, text string, status int, says string) {
	p.t.Helper()
	if code != status || !strings.Contains(text, says) {
		p.t.Errorf("%d %s, want %d with %q", code, text, status, says)
	}
}

func (f *fakeEnd) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

const long = time.Minute

func TestPutsOfAClientJoin(t *testing.T) {
	for name, keep := range map[string]bool{"one connection": true, "a connection each": false} {
		t.Run(name, func(t *testing.T) {
			f := newFakeEnd()
			f.again = true
			p := newPutter(t, f, long)
			want := ""
			for i := range 50 {
				text := fmt.Sprintf("<%d>", i)
				at := len(want)
				if i == 0 {
					at = -1
				}
				code, answer := p.put(text, at)
				p.want(code, answer, 200, "the connection stays")
				if !keep {
					p.client.CloseIdleConnections()
				}
				want += text
			}
			waitFor(t, func() bool { return f.text() == want })
			if len(f.opened) != 1 || f.isClosed() {
				t.Errorf("%d connections, closed %v", len(f.opened), f.isClosed())
			}
		})
	}
}

func TestAJoinedSessionEndsWhenNothingFollows(t *testing.T) {
	before := runtime.NumGoroutine()
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, 30*time.Millisecond)
	p.put("one", -1)
	waitFor(t, f.isClosed)
	waitFor(t, func() bool { p.h.joins.mu.Lock(); defer p.h.joins.mu.Unlock(); return len(p.h.joins.all) == 0 })
	p.put("two", -1)
	waitFor(t, func() bool { return f.text() == "onetwo" })
	if len(f.opened) != 2 {
		t.Errorf("%d connections", len(f.opened))
	}
	p.client.CloseIdleConnections()
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before+2 }) // the server's own
}

func TestOthersDoNotJoin(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, long)
	p.put("a", -1)
	p.agent = "another"
	p.put("b", -1)
	if len(f.opened) != 2 {
		t.Errorf("%d connections, want 2: another program", len(f.opened))
	}
	p.url += "?latency=5"
	p.put("c", -1)
	if len(f.opened) != 3 {
		t.Errorf("%d connections, want 3: another address", len(f.opened))
	}
}

// TestTwoPutsAtOnceAreTwoSessions: the second is not a successor.
func TestTwoPutsAtOnceAreTwoSessions(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, long)
	r, w := io.Pipe()
	req, _ := http.NewRequest("PUT", p.url, r)
	req.ContentLength = 4
	req.Header.Set("User-Agent", p.agent)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := p.client.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
	w.Write([]byte("ab"))
	waitFor(t, func() bool { return f.text() == "ab" })
	p.put("x", -1)
	if len(f.opened) != 2 {
		t.Errorf("%d connections, want 2", len(f.opened))
	}
	w.Write([]byte("cd"))
	<-done
}

func TestAPieceThatBreaksOffIsContinued(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, long)
	c, err := net.Dial("tcp", strings.TrimPrefix(strings.SplitAfter(p.url, "/srt")[0], "http://")[:len("127.0.0.1:00000")])
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "PUT /srt://h:1 HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: test\r\nContent-Length: 6\r\n\r\n0123")
	waitFor(t, func() bool { return f.text() == "0123" })
	c.Close()
	waitFor(t, func() bool { return p.idle() })
	p.put("234567", 2) // again, from a place before the break
	p.put("89", 8)
	waitFor(t, func() bool { return f.text() == "0123456789" })
	p.put("2", 2) // shorter than what it repeats
	p.put("ab", 10)
	waitFor(t, func() bool { return f.text() == "0123456789ab" })
	p.put("yz", 34) // a gap is logged; what there is goes on
	waitFor(t, func() bool { return f.text() == "0123456789abyz" })
	p.put("01", -1) // the client was started anew
	waitFor(t, func() bool { return f.text() == "0123456789abyz01" })
	if len(f.opened) != 1 {
		t.Errorf("%d connections", len(f.opened))
	}
}

// idle reports whether the one session waits for its next piece.
func (p *putter) idle() bool {
	p.h.joins.mu.Lock()
	defer p.h.joins.mu.Unlock()
	for _, j := range p.h.joins.all {
		j.body.mu.Lock()
		waits := j.body.waiting
		j.body.mu.Unlock()
		if waits {
			return true
		}
	}
	return false
}

func TestBadContentRange(t *testing.T) {
	for _, text := range []string{"bytes", "bytes -5/10", "items 0-1/2", "bytes x-1/2", "bytes 99999999999999999999-1/*"} {
		f := newFakeEnd()
		p := newPutter(t, f, long)
		req, _ := http.NewRequest("PUT", p.url, strings.NewReader("x"))
		req.Header.Set("Content-Range", text)
		resp, err := p.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 400 || !strings.Contains(string(answer), text) || len(f.opened) != 0 {
			t.Errorf("%q: %d %s", text, resp.StatusCode, answer)
		}
	}
}

func TestAChunkedPutEndsTheJoinedSession(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, long)
	p.put("one", -1)
	code, text := p.send("PUT", io.MultiReader(strings.NewReader("two")), -1) // of unknown length
	p.want(code, text, 200, " 6 bytes")
	if !f.isClosed() || len(f.opened) != 1 || f.text() != "onetwo" {
		t.Errorf("closed %v, %d connections, got %q", f.isClosed(), len(f.opened), f.text())
	}
}

func TestAPutThatClosesItsConnectionIsAStreamOfItsOwn(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, long)
	p.client.Transport.(*http.Transport).DisableKeepAlives = true
	for i := range 3 {
		code, text := p.put("one", -1)
		p.want(code, text, 200, "1 messages, 3 bytes")
		if len(f.opened) != i+1 || !f.isClosed() {
			t.Errorf("%d connections after %d, closed %v", len(f.opened), i+1, f.isClosed())
		}
	}
}

func TestAPostDoesNotWaitForTheJoinedSession(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, long)
	p.put("one", -1)
	code, text := p.send("POST", strings.NewReader("two"), -1)
	p.want(code, text, 200, "1 messages, 3 bytes")
	if len(f.opened) != 2 {
		t.Errorf("%d connections", len(f.opened))
	}
}

func TestAPortIsHandedOverBetweenPuts(t *testing.T) {
	f := newFakeEnd()
	f.again, f.listens, f.addr = true, true, ":9000"
	p := newPutter(t, f, long)
	p.put("one", -1)
	waitFor(t, p.idle)
	p.agent = "another"
	begun := time.Now()
	code, text := p.put("two", -1)
	p.want(code, text, 200, "stays")
	if d := time.Since(begun); d > handover {
		t.Errorf("it took %v to get the port", d)
	}
}

func TestARefusalIsTheStatusOfAPut(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	refusal := &srtcore.RejectError{Reason: srtcore.RejBadSecret, Remote: true}
	f.fail = refusal
	p := newPutter(t, f, long)
	code, text := p.put("one", -1)
	p.want(code, text, 403, refusal.Error())
	waitFor(t, func() bool { p.h.joins.mu.Lock(); defer p.h.joins.mu.Unlock(); return len(p.h.joins.all) == 0 })
	f.fail = nil
	code, text = p.put("two", -1)
	p.want(code, text, 200, "stays")
}

// TestAFailureBetweenPutsIsToldToTheNext, once, without another try.
func TestAFailureBetweenPutsIsToldToTheNext(t *testing.T) {
	refusal := &srtcore.RejectError{Reason: srtcore.RejBadSecret, Remote: true}
	h := &Handler{}
	p := &piece{known: true, start: -1, taken: make(chan struct{}), body: strings.NewReader("")}
	key := pieceKey{url: "srt://h:1"}
	j, _ := h.join(key, p)
	j.body.finish(p)
	h.leave(j, p)
	h.drop(j, fmt.Errorf("srt://h:1: %w", refusal))
	again, fresh := h.join(key, p)
	if again != j || fresh || !errors.Is(again.err, refusal) {
		t.Errorf("%v, fresh %v", again, fresh)
	}
	if next, fresh := h.join(key, p); next == j || !fresh {
		t.Error("told twice")
	}
}

func TestAPutWithoutAPeerIsTaken(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	f.fail = srtcore.ErrConnTimeout
	p := newPutter(t, f, 10*time.Millisecond)
	begun := time.Now()
	code, text := p.put("one", -1)
	p.want(code, text, 202, srtcore.ErrConnTimeout.Error())
	if d := time.Since(begun); d < firstWait || d > firstWait+2*time.Second {
		t.Errorf("after %v", d)
	}
}

func TestARemovedRouteEndsItsPuts(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	p := newPutter(t, f, long)
	var rt atomic.Pointer[route.Route]
	var listed atomic.Int32
	p.h.Register = func(r *route.Route) func() {
		rt.Store(r)
		listed.Add(1)
		return func() { listed.Add(-1) }
	}
	p.put("one", -1)
	if s := rt.Load().Snapshot(); !s.Dynamic || listed.Load() != 1 || len(s.Outputs) != 1 {
		t.Errorf("%+v", s)
	}
	r, w := io.Pipe()
	req, _ := http.NewRequest("PUT", p.url, r)
	req.ContentLength = 100
	req.Header.Set("User-Agent", p.agent)
	status := make(chan int)
	go func() {
		resp, err := p.client.Do(req)
		if err != nil {
			status <- -1
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	w.Write([]byte("two"))
	waitFor(t, func() bool { return f.text() == "onetwo" })
	rt.Load().Stop()
	if code := <-status; code != 503 {
		t.Errorf("%d, want 503", code)
	}
	w.Close()
	waitFor(t, func() bool { return listed.Load() == 0 })
}

func TestStoppingEndsJoinedSessions(t *testing.T) {
	for _, how := range []string{"stop", "retire"} {
		t.Run(how, func(t *testing.T) {
			f := newFakeEnd()
			f.again = true
			retire := make(chan struct{})
			h := &Handler{Join: long, Retire: retire, Parse: func(string) (End, error) { return f, nil }}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() { done <- h.Serve(ctx, ln) }()
			p := &putter{t: t, h: h, url: "http://" + ln.Addr().String() + "/srt://h:1", client: &http.Client{Transport: &http.Transport{}}}
			code, text := p.put("one", -1)
			p.want(code, text, 200, "stays")
			if how == "stop" {
				cancel()
			} else {
				close(retire)
			}
			if err := <-done; err != nil {
				t.Errorf("Serve: %v", err)
			}
			if !f.isClosed() || f.text() != "one" {
				t.Error("the tail was not delivered")
			}
		})
	}
}

// TestPutsOverSRT sends a stream in pieces of odd sizes to a real listener.
func TestPutsOverSRT(t *testing.T) {
	cfg := srtcore.DefaultConfig()
	ln, err := srtcore.Listen(t.Context(), "127.0.0.1:0", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var got bytes.Buffer
	received := make(chan error, 1)
	go func() {
		c, err := ln.Accept(t.Context())
		if err == nil {
			err = readAll(&got, c)
		}
		received <- err
	}()
	h := &Handler{Join: 300 * time.Millisecond}
	s := httptest.NewServer(h)
	defer s.Close()
	p := &putter{t: t, h: h, url: s.URL + "/srt://" + ln.Addr().String() + "?latency=60", client: http.DefaultClient}
	rnd := rand.New(rand.NewPCG(1, 2))
	var want bytes.Buffer
	for range 60 {
		piece := make([]byte, 1+rnd.IntN(6000))
		for i := range piece {
			piece[i] = byte(rnd.Uint32())
		}
		at := want.Len()
		if at == 0 {
			at = -1
		}
		if code, text := p.put(string(piece), at); code != 200 {
			t.Fatalf("%d %s", code, text)
		}
		want.Write(piece)
	}
	select {
	case err := <-received:
		if err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("the session did not end")
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes came, other than the %d that were sent", got.Len(), want.Len())
	}
	h.finishJoins()
}

func readAll(into *bytes.Buffer, c *srtcore.Conn) error {
	b := make([]byte, 2000) // a whole message
	for {
		n, err := c.Read(b)
		into.Write(b[:n])
		if err != nil {
			return err
		}
	}
}

// TestManyClientsJoin: each client's PUTs stay its own.
func TestManyClientsJoin(t *testing.T) {
	var mu sync.Mutex
	ends := map[string]*fakeEnd{}
	h := &Handler{Join: long, Parse: func(raw string) (End, error) {
		mu.Lock()
		defer mu.Unlock()
		f := newFakeEnd()
		f.again = true
		ends[raw] = f
		return f, nil
	}}
	s := httptest.NewServer(h)
	defer s.Close()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			p := &putter{t: t, h: h, url: fmt.Sprintf("%s/srt://h:%d", s.URL, i+1), client: &http.Client{Transport: &http.Transport{}}}
			defer p.client.CloseIdleConnections()
			for k := range 50 {
				if code, text := p.put(fmt.Sprintf("%d.%d ", i, k), -1); code != 200 {
					t.Errorf("%d %s", code, text)
				}
			}
		})
	}
	wg.Wait()
	h.finishJoins()
	for i := range 16 {
		want := ""
		for k := range 50 {
			want += fmt.Sprintf("%d.%d ", i, k)
		}
		if f := ends[fmt.Sprintf("srt://h:%d", i+1)]; f.text() != want || len(f.opened) != 1 {
			t.Errorf("client %d: %d connections, %q", i, len(f.opened), f.text())
		}
	}
}
