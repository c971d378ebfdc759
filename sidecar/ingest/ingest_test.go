package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/hub"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/tests/proctest"
)

// server serves with every srt:// URL meaning f.
func server(t *testing.T, f *fakeEnd) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(&Handler{Parse: func(string) (End, error) { return f, nil }})
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestForeignRequestsAreRefused(t *testing.T) {
	f := newFakeEnd()
	close(f.feed)
	s := server(t, f)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for _, c := range []struct {
		header []string
		want   int
	}{
		{nil, 200},
		{[]string{"Host", "localhost:" + port}, 200},
		{[]string{"Host", "[::1]:" + port}, 200},
		{[]string{"Host", "evil.example"}, 403},
		{[]string{"Host", "evil.example:" + port}, 403},
		{[]string{"Host", "192.0.2.1"}, 403},
		{[]string{"Host", "localhost.evil.example"}, 403},
		{[]string{"Origin", "http://localhost"}, 403},
		{[]string{"Origin", "null"}, 403},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Sec-Fetch-Mode", "no-cors"}, 403},
		{[]string{"Range", "bytes=0-", "Icy-MetaData", "1"}, 200},
	} {
		if code, body := get(t, s.URL+"/srt://h:1", c.header...); code != c.want {
			t.Errorf("%v: %d %s, want %d", c.header, code, body, c.want)
		}
	}
	if n := len(f.opened); n != 4 {
		t.Errorf("%d connections were opened, want 4", n)
	}
}

func TestFailuresBecomeStatus(t *testing.T) {
	rej := func(r srtcore.RejectReason) error { return &srtcore.RejectError{Reason: r, Remote: true} }
	for _, c := range []struct {
		err  error
		want int
	}{
		{rej(srtcore.RejBadSecret), 403}, {rej(srtcore.RejForbidden), 403}, {rej(srtcore.RejPeer), 403},
		{rej(srtcore.RejNotFound), 404}, {&net.DNSError{IsNotFound: true}, 404},
		{srtcore.ErrConnTimeout, 504}, {endpoint.ErrNoCaller, 504},
		{syscall.EADDRINUSE, 409}, {errors.New("anything"), 502},
		{&srtcore.OptionError{Option: "latancy"}, 400},
	} {
		f := newFakeEnd()
		f.fail = c.err
		code, text := get(t, server(t, f).URL+"/srt://h:1")
		if code != c.want || !strings.Contains(text, c.err.Error()) {
			t.Errorf("%v: %d %s, want %d", c.err, code, text, c.want)
		}
	}
}

func TestBadRequests(t *testing.T) {
	s := httptest.NewServer(&Handler{})
	defer s.Close()
	for path, want := range map[string]int{
		"/": 404, "/srt://h:1?latancy=5&passphrase=verysecret1": 400, "/srt://h": 400, "/srt://h:1?streamid=": 400, "/srt://h:1?latency=9&streamid=&mode=caller": 400, "/srt://h:1?passphrase=short": 400,
	} {
		code, text := get(t, s.URL+path)
		if code != want || strings.Contains(text, "verysecret1") {
			t.Errorf("%s: %d %s, want %d", path, code, text, want)
		}
	}
	resp, err := http.Head(s.URL + "/srt://h:1")
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 405 {
		t.Errorf("HEAD: %d", resp.StatusCode)
	}
}

func TestPlay(t *testing.T) {
	f := newFakeEnd()
	s := server(t, f)
	f.feed <- "one"
	resp, err := http.Get(s.URL + "/srt://h:1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "video/mp2t" || resp.ContentLength != -1 {
		t.Errorf("headers: %v, length %d", resp.Header, resp.ContentLength)
	}
	b := make([]byte, 3)
	if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != "one" {
		t.Fatalf("first message: %q, %v", b, err) // it must not wait for more
	}
	f.feed <- "two"
	close(f.feed)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "two" {
		t.Errorf("rest: %q, %v", rest, err)
	}
}

func TestPlayEndsWhenTheClientLeaves(t *testing.T) {
	f := newFakeEnd()
	f.listens, f.again = true, true
	var running atomic.Int32
	h := &Handler{Parse: func(string) (End, error) { return f, nil }, Register: func(r *route.Route) func() {
		if !r.Snapshot().Dynamic {
			t.Error("a request's route is not said to be dynamic")
		}
		running.Add(1)
		return func() { running.Add(-1) }
	}}
	s := httptest.NewServer(h)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"/srt://:1?mode=listener", nil)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if code, text := get(t, s.URL+"/srt://:1"); code != 409 || !strings.Contains(text, "already") {
		t.Errorf("second listener on one port: %d %s", code, text)
	}
	cancel()
	resp.Body.Close()
	waitFor(t, func() bool { return running.Load() == 0 })
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	proctest.Eventually(t, "condition not met", ok)
}

func TestPublish(t *testing.T) {
	for _, method := range []string{"POST", "PUT"} {
		f := newFakeEnd()
		f.again = true
		r, w := io.Pipe()
		req, _ := http.NewRequest(method, server(t, f).URL+"/srt://h:1", r)
		go func() {
			w.Write([]byte("first"))
			waitFor(t, func() bool { return f.text() == "first" })
			w.Write([]byte("last"))
			w.Close()
		}()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || f.text() != "firstlast" || !f.closed {
			t.Errorf("%s: %d %s; got %q, closed %v", method, resp.StatusCode, text, f.text(), f.closed)
		}
	}
}

// raw sends a request by hand, to see what comes before the body is sent.
func raw(t *testing.T, s *httptest.Server, expect string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(c, "POST /srt://h:1?x=y HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n%s\r\n", expect)
	return c, bufio.NewReader(c)
}

func TestExpectConnectsFirst(t *testing.T) {
	f := newFakeEnd()
	c, r := raw(t, server(t, f), "Expect: 100-continue\r\n")
	line, err := r.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("%q, %v", line, err)
	}
	if len(f.opened) != 1 {
		t.Error("the body was asked for before the connection stood")
	}
	fmt.Fprint(c, "2\r\nhi\r\n0\r\n\r\n")
	r.ReadString('\n')
	if line, err = r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 200") {
		t.Errorf("%q, %v", line, err)
	}
	if f.text() != "hi" || len(f.opened) != 1 {
		t.Errorf("got %q over %d connections", f.text(), len(f.opened))
	}
}

func TestExpectToldTheReasonBeforeTheBody(t *testing.T) {
	f := newFakeEnd()
	f.fail = &srtcore.RejectError{Reason: srtcore.RejUnauthorized, Remote: true}
	_, r := raw(t, server(t, f), "Expect: 100-continue\r\n")
	if line, err := r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 403") {
		t.Errorf("%q, %v", line, err)
	}
}

func TestFinalRefusalBreaksARunningBodyOff(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	f.fail = &srtcore.RejectError{Reason: srtcore.RejBadSecret, Remote: true}
	c, r := raw(t, server(t, f), "")
	fmt.Fprint(c, "2\r\nhi\r\n") // and never an end: the answer must come all the same
	if line, err := r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 403") {
		t.Errorf("%q, %v", line, err)
	}
}

func TestBodyOfAClientThatBreaksOffIsDelivered(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	c, _ := raw(t, server(t, f), "")
	fmt.Fprint(c, "2\r\nhi\r\n")
	waitFor(t, func() bool { return f.text() == "hi" })
	fmt.Fprint(c, "5\r\nyo")
	c.Close()
	waitFor(t, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.closed })
	if f.text() != "hiyo" {
		t.Errorf("got %q", f.text())
	}
}

func TestPortIsHandedOver(t *testing.T) {
	var p ports
	a, err := p.claim(t.Context(), ":9000")
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{":9000", "127.0.0.1:9000", "[::]:9000"} {
		if _, err := p.claim(t.Context(), addr); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%s beside :9000: %v", addr, err)
		}
	}
	other, err := p.claim(t.Context(), ":9001")
	if err != nil {
		t.Fatal(err)
	}
	other.release()
	a.end()
	got := make(chan error)
	go func() {
		_, err := p.claim(t.Context(), "127.0.0.1:9000")
		got <- err
	}()
	a.release()
	if err := <-got; err != nil {
		t.Errorf("after the first ended: %v", err)
	}
	if _, err := p.claim(t.Context(), "127.0.0.2:9000"); err != nil {
		t.Errorf("another address, same port: %v", err)
	}
}

func TestServeStopsWithItsContext(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	h := &Handler{Parse: func(string) (End, error) { return f, nil }}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Serve(ctx, ln) }()
	r, w := io.Pipe()
	defer w.Close()
	status := make(chan int)
	go func() {
		resp, err := http.Post("http://"+ln.Addr().String()+"/srt://h:1", "video/mp2t", r)
		if err != nil {
			status <- -1
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	w.Write([]byte("hi"))
	waitFor(t, func() bool { return f.text() == "hi" })
	cancel()
	if code := <-status; code != 503 {
		t.Errorf("the running request got %d, want 503", code)
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if !f.closed {
		t.Error("the tail was not delivered")
	}
}

func TestTheReplyCountsWhatNobodyGot(t *testing.T) {
	text := account(route.Snapshot{
		Media:   hub.Stats{Messages: 100, Bytes: 131600, Unheard: 7},
		Outputs: []route.EndSnapshot{{Queue: hub.ReaderStats{Dropped: 5}, TooLate: 3}},
	})
	for _, want := range []string{"100 messages", "131600 bytes", "7 while nobody was there", "5 waiting", "3 as too late"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}
