package ingest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/route"
)

// private serves one end as weirline exec does; outcomes tells how requests end.
func private(t *testing.T, f *fakeEnd, change func(*Handler)) (url string, end context.CancelFunc, outcomes chan Outcome, served chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ending, end := context.WithCancel(ctx)
	t.Cleanup(cancel)
	outcomes, served = make(chan Outcome, 10), make(chan error, 1)
	h := &Handler{
		Parse: func(string) (End, error) { return f, nil },
		Target: func(uri string) (string, error) {
			if uri != "/secret/0" {
				return "", errors.New("unknown")
			}
			return "srt://h:1", nil
		},
		AwaitCaller: true, Ending: ending, Retire: ending.Done(), Ended: func(o Outcome) { outcomes <- o },
	}
	if change != nil {
		change(h)
	}
	go func() { served <- h.Serve(ctx, ln) }()
	return "http://" + ln.Addr().String() + "/secret/0", end, outcomes, served
}

func expecting(t *testing.T, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Expect", "100-continue")
	return req
}

func TestPrivatePaths(t *testing.T) {
	f := newFakeEnd()
	close(f.feed)
	url, _, _, _ := private(t, f, nil)
	for path, want := range map[string]int{url: 200, url + "x": 404, strings.TrimSuffix(url, "/secret/0") + "/srt://h:1": 404} {
		if code, body := get(t, path); code != want {
			t.Errorf("%s: %d %s, want %d", path, code, body, want)
		}
	}
}

// A client that can wait is not asked for its body before the first caller.
func TestAListeningEndIsWaitedFor(t *testing.T) {
	f := newFakeEnd()
	f.listens, f.again = true, true
	f.opened = make(chan struct{}) // the caller comes when this is received from
	url, _, outcomes, _ := private(t, f, nil)
	asked := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		resp, err := (&http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}).Do(expecting(t, url, onRead{strings.NewReader("media"), asked}))
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	select {
	case <-asked:
		t.Fatal("the body is read before a caller came")
	case <-f.opened:
	}
	<-asked
	if err := <-done; err != nil {
		t.Error(err)
	}
	if o := <-outcomes; o.Err != nil || !o.Publish || o.Told || f.text() != "media" {
		t.Errorf("%+v, %q arrived", o, f.text())
	}
}

// onRead tells when it is first read.
type onRead struct {
	io.Reader
	asked chan struct{}
}

func (r onRead) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		close(r.asked)
	}
	return n, err
}

func TestWhatIsReceivedEndsWithTheHandler(t *testing.T) {
	f := newFakeEnd()
	f.again = true
	url, end, _, served := private(t, f, nil)
	f.feed <- "one"
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	end()
	if body, err := io.ReadAll(resp.Body); string(body) != "one" && string(body) != "" || err != nil {
		t.Errorf("%q, %v: want a proper end", body, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestWhatIsSentIsTakenToItsEnd(t *testing.T) {
	f := newFakeEnd()
	url, end, _, served := private(t, f, nil)
	r, w := io.Pipe()
	status := make(chan int, 1)
	go func() {
		resp, err := http.Post(url, "video/mp2t", r)
		if err != nil {
			status <- -1
			return
		}
		resp.Body.Close()
		status <- resp.StatusCode
	}()
	w.Write([]byte("one "))
	waitFor(t, func() bool { return f.text() == "one " })
	end()
	w.Write([]byte("two"))
	w.Close()
	if code := <-status; code != 200 || f.text() != "one two" {
		t.Errorf("status %d, %q arrived", code, f.text())
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Nobody comes: given up, and said to client and owner.
func TestGivingUp(t *testing.T) {
	f := newFakeEnd()
	f.fail = context.DeadlineExceeded
	url, _, outcomes, _ := private(t, f, func(h *Handler) { h.GiveUp = time.Nanosecond })
	if code, body := get(t, url); code != 504 || !strings.Contains(body, "gave up") {
		t.Errorf("%d %s", code, body)
	}
	if o := <-outcomes; !errors.Is(o.Err, route.ErrGaveUp) || !o.Told || o.Publish {
		t.Errorf("%+v", o)
	}
}
