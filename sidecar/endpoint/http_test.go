package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
)

// serve runs a server whose complaints nobody wants to read.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// raw runs a server that answers everybody with these bytes and then says nothing.
func raw(t *testing.T, text string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go func() {
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					io.WriteString(c, text)
				}
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

// pull reads a session to its end.
func pull(t *testing.T, src Source) (got []byte, err error) {
	t.Helper()
	err = src.(Pusher).Push(func(msgs [][]byte, _ time.Time) {
		for _, m := range msgs {
			if len(m) > MessageSize {
				t.Errorf("message of %d bytes", len(m))
			}
			got = append(got, m...)
		}
	})
	return got, err
}

func TestHTTPSource(t *testing.T) {
	want := media(500)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Method != "GET" || user != "me" || password != "secret" || r.URL.RawQuery != "key=secret&timeout=9" {
			t.Errorf("%s %s by %s", r.Method, r.URL, user)
		}
		for b := want; len(b) > 0; b = b[1000:] {
			w.Write(b[:1000])
			w.(http.Flusher).Flush()
		}
	})
	want = want[:len(want)/1000*1000]
	e := mustSource(t, strings.Replace(url, "//", "//me:secret@", 1)+"/live.ts?key=secret&timeout=9#timeout=5s")
	for range 2 { // and again, as a route does
		src, err := e.OpenSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := pull(t, src)
		if !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
			t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
		}
		src.Close()
		src.Close()
	}
}

func TestHTTPSourceFollowsRedirects(t *testing.T) {
	want := media(7)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/there":
			w.Write(want)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		default:
			http.Redirect(w, r, "/there", http.StatusFound)
		}
	})
	src, err := mustSource(t, url+"/here").OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pull(t, src); !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := mustSource(t, url+"/circle").OpenSource(t.Context()); !errors.Is(err, errRedirects) {
		t.Errorf("in a circle: %v", err)
	}
}

// What servers refuse, and what is wrong with them, is told without the URL's
// secrets.
func TestHTTPRefusals(t *testing.T) {
	status := func(code int) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, c := range []struct {
		name, url string
		kind      Kind
		final     bool
	}{
		{"401", status(401), Refused, true},
		{"403", status(403), Refused, true},
		{"404", status(404), NotFound, false},
		{"409", status(409), Refused, false},
		{"415", status(415), Refused, true},
		{"500", status(500), Refused, false},
		{"503", status(503), Refused, false},
		{"504", status(504), Timeout, false},
		{"nobody there", "http://" + port.Addr(t), Refused, false},
		{"an unknown certificate", secure.URL, Refused, true},
		{"no TLS", strings.Replace(status(200), "http:", "https:", 1), Refused, true},
		{"no answer", raw(t, ""), Timeout, false},
		{"half an answer", raw(t, "HTTP/1.1 200 OK\r\nX: "), Timeout, false},
		{"an answer without end", raw(t, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 2*mostHead)), Other, false},
		{"no HTTP", raw(t, strings.Repeat("garbage\r\n", 1000)), Other, false},
		{"no HTTP, and no line", raw(t, strings.Repeat("garbage", 1000)), Timeout, false},
	} {
		for _, source := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, source %v", c.name, source), func(t *testing.T) {
				t.Parallel()
				limit := "20s" // what is not about time gets enough of it
				if c.kind == Timeout {
					limit = "300ms"
				}
				err := open(t, c.url+"/a?key=verysecret#timeout="+limit, source)
				if err == nil || strings.Contains(err.Error(), "verysecret") {
					t.Fatal(err)
				}
				if f := Judge(err); f.Kind != c.kind || f.Final != c.final || f.Advice == "" {
					t.Errorf("%v: judged %+v", err, f)
				}
			})
		}
	}
}

// open opens an end and, since a server may say nothing to an output until it has
// the whole body, closes it.
func open(t *testing.T, raw string, source bool) error {
	if source {
		src, err := mustSource(t, raw).OpenSource(t.Context())
		if err == nil {
			src.Close()
		}
		return err
	}
	sink, err := mustSink(t, raw).OpenSink(t.Context())
	if err != nil {
		return err
	}
	return sink.Close()
}

func TestHTTPSourceThatFallsSilentOrBreaks(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
	src, err := mustSource(t, raw(t, head+string(media(7)))+"#timeout=200ms").OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := pull(t, src)
	if _, ok := errors.AsType[*SilentError](err); !ok || Judge(err).Kind != Timeout || len(got) != 1316 {
		t.Errorf("silent: %d bytes, %v", len(got), err)
	}
	broken := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		w.Write(media(7))
	})
	if src, err = mustSource(t, broken).OpenSource(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err = pull(t, src); !errors.Is(err, io.ErrUnexpectedEOF) || Judge(err).Kind != Lost || len(got) != 1316 {
		t.Errorf("broken: %d bytes, %v", len(got), err)
	}
}

func TestCloseEndsAnHTTPSource(t *testing.T) {
	src, err := mustSource(t, raw(t, "HTTP/1.1 200 OK\r\n\r\n")).OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := pull(t, src)
		done <- err
	}()
	src.Close()
	if err := <-done; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestHTTPOutput(t *testing.T) {
	want := media(500)
	got := make(chan []byte, 1)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "POST" || r.Header.Get("Content-Type") != "video/x" || r.ContentLength != -1 {
			t.Errorf("%s, %v", r.Method, r.Header)
		}
		b, _ := io.ReadAll(r.Body)
		got <- b
	})
	if err := send(t.Context(), mustSink(t, url+"#method=post&content_type=video/x"), want); err != nil {
		t.Fatal(err)
	}
	if b := <-got; !bytes.Equal(b, want) {
		t.Errorf("%d of %d bytes, or altered", len(b), len(want))
	}
}

// Each batch goes out at once.
func TestHTTPOutputDoesNotHoldBack(t *testing.T) {
	got := make(chan int)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 10_000)
		for {
			n, err := r.Body.Read(b)
			if err != nil {
				return
			}
			got <- n
		}
	})
	sink, err := mustSink(t, url).OpenSink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Abort()
	for range 3 {
		if err := sink.WriteBatch([][]byte{media(2)}); err != nil {
			t.Fatal(err)
		}
		for left := 2 * 188; left > 0; {
			left -= <-got
		}
	}
}

func TestServerThatEndsTheRequestEarly(t *testing.T) {
	for name, code := range map[string]int{"as if all were well": 200, "with an error": 507} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.ReadFull(r.Body, make([]byte, 1316))
			w.Header().Set("Connection", "close")
			w.WriteHeader(code)
		})
		sink, err := mustSink(t, url).OpenSink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			err = sink.WriteBatch([][]byte{media(7)})
		}
		<-sink.(*httpSink).Done() // an output that is idle hears it so
		why := sink.(*httpSink).Err()
		if s, ok := errors.AsType[*StatusError](why); code != 200 && (!ok || s.Code != code) && Judge(why).Kind != Lost {
			t.Errorf("%s: %v, then %v", name, err, why)
		}
		if f := Judge(err); f.Final || why == nil {
			t.Errorf("%s: %v, judged %+v; then %v", name, err, f, why)
		}
		sink.Abort()
	}
}

func TestServerThatTakesNothing(t *testing.T) {
	over := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		r.Body.Read(make([]byte, 1))
		<-over
	})
	defer close(over)
	sink, err := mustSink(t, url+"#timeout=200ms").OpenSink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = sink.WriteBatch([][]byte{make([]byte, 100_000)})
	}
	if _, ok := errors.AsType[*SilentError](err); !ok {
		t.Error(err)
	}
	sink.Abort()

	if sink, err = mustSink(t, url+"#timeout=60s").OpenSink(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		var err error
		for err == nil {
			err = sink.WriteBatch([][]byte{make([]byte, 100_000)})
		}
		done <- err
	}()
	sink.Abort()
	if err := <-done; !errors.Is(err, errAborted) && !errors.Is(err, context.Canceled) {
		t.Errorf("aborted: %v", err)
	}
}

func TestHTTPOpenEndsWithContext(t *testing.T) {
	url := raw(t, "")
	for _, source := range []bool{true, false} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begun := time.Now()
		var err error
		if source {
			_, err = mustSource(t, url).OpenSource(ctx)
		} else {
			_, err = mustSink(t, url).OpenSink(ctx)
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > 900*time.Millisecond {
			t.Errorf("source %v: %v after %v", source, err, time.Since(begun))
		}
		cancel()
	}
}
