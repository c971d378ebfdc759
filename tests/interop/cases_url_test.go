package interop

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// caller is what a listener got to know of a caller.
type caller struct {
	streamID string
	rcv, snd time.Duration // latency to the listener, and from it
}

// callee listens with a latency of its own of 0 and reports its callers.
func callee(t *testing.T) (addr string, callers <-chan caller) {
	t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.RcvLatency = 0
	l, err := srtcore.Listen(t.Context(), "127.0.0.1:0", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	seen := make(chan caller, 16)
	go func() {
		for {
			c, err := l.Accept(t.Context())
			if err != nil {
				return
			}
			seen <- caller{c.StreamID(), c.RcvLatency(), c.PeerLatency()}
			go func() {
				_, _ = io.Copy(io.Discard, c)
				c.Abort()
			}()
		}
	}()
	return l.Addr().String(), seen
}

func wantCaller(t *testing.T, callers <-chan caller) caller {
	t.Helper()
	select {
	case c := <-callers:
		return c
	case <-time.After(proctest.Patience):
		t.Fatal("nobody called")
		return caller{}
	}
}

// put sends a request whose target is not touched by any URL parser, as ffmpeg
// does, and returns status and text of the answer.
func put(t *testing.T, addr, method, target string) outcome {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, proctest.Patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(proctest.Patience))
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 1316\r\nConnection: close\r\n\r\n%s", method, target, addr, noise(message))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	return outcome{resp.StatusCode, string(text)}
}

// C04: a stream id in a URL arrives the same, however it is written, through
// both front ends.
func TestC04StreamIDForms(t *testing.T) {
	t.Parallel()
	const id = "#!::r=live/a,m=publish"
	at, callers := callee(t)
	daemonAt := serve(t)
	for raw, want := range map[string]string{
		id:                                       id,
		"%23%21%3A%3Ar%3Dlive%2Fa%2Cm%3Dpublish": id,
		"%23!::r=live/a,m=publish":               id,
		"a%26b":                                  "a&b",
		"a+b":                                    "a+b",
		"100%25":                                 "100%",
		"%2523":                                  "%23",
	} {
		target := "srt://" + at + "?latency=20&streamid=" + raw
		check := func(front string, got outcome, ok int) {
			t.Helper()
			if got.code != ok {
				t.Errorf("%s %s: ended with %d and said %s", front, raw, got.code, got.said)
				return
			}
			if c := wantCaller(t, callers); c.streamID != want {
				t.Errorf("%s %s: arrived as %q, want %q", front, raw, c.streamID, want)
			}
		}
		check("relay", feed(t, target), 0)
		check("PUT verbatim", put(t, daemonAt, "PUT", "/"+target), 200)
		check("PUT escaped", put(t, daemonAt, "PUT", "/srt?url="+url.QueryEscape(target)), 200)
	}
}

// feed relays one message.
func feed(t *testing.T, target string) outcome {
	t.Helper()
	p := start(t, nil, binary, "relay", "-", target)
	_, _ = p.Write(noise(message))
	_ = p.finish()
	return outcome{p.Cmd.ProcessState.ExitCode(), p.Said.String()}
}

// C04, C22: what is refused is refused by both front ends, by exit code and by
// status, with a text that tells how to write it, and before any packet.
func TestC04C22RefusedURLs(t *testing.T) {
	t.Parallel()
	nobody := newSilentPort(t)
	daemonAt := serve(t)
	for query, says := range map[string][]string{
		"streamid=100%":                         {`"streamid"`, "%25"},
		"streamid=%zz":                          {`"streamid"`, "%25"},
		"streamid=" + strings.Repeat("x", 513):  {`"streamid"`, "512"},
		"streamid=a%00b":                        {`"streamid"`, "zero byte"},
		"latancy=200":                           {`"latancy"`, `did you mean "latency"?`},
		"latency=200000":                        {`"latency"`, "0..65535 ms", "milliseconds", "us"},
		"latency=200x":                          {`"latency"`, "ms"},
		"payloadsize=1457":                      {`"payloadsize"`, "1456"},
		"timeout=2s&connect_timeout=1s&pkt=188": {`"pkt"`},
	} {
		target := "srt://" + nobody.addr() + "?" + query
		for front, got := range map[string]struct {
			outcome
			want int
		}{
			"relay to":    {runBinary(t, "relay", "-", target), 2},
			"relay from":  {runBinary(t, "relay", target, "-"), 2},
			"PUT":         {put(t, daemonAt, "PUT", "/"+target), 400},
			"GET":         {put(t, daemonAt, "GET", "/"+target), 400},
			"PUT escaped": {put(t, daemonAt, "PUT", "/srt?url="+url.QueryEscape(target)), 400},
		} {
			if got.code != got.want {
				t.Errorf("%s %s: ended with %d, want %d", front, query, got.code, got.want)
			}
			got.wantSays(t, front+" "+query, says...)
		}
	}
	nobody.wantSilence(t)
}

// C22: the same latency, in whatever unit, is the same latency on the wire; a
// doubtful one is taken with a warning that names the unit.
func TestC22Units(t *testing.T) {
	t.Parallel()
	at, callers := callee(t)
	daemonAt, daemon := daemon(t)
	for value, tc := range map[string]struct {
		want     time.Duration
		doubtful bool
	}{
		"200": {200 * time.Millisecond, false}, "200ms": {200 * time.Millisecond, false},
		"200000us": {200 * time.Millisecond, false}, "0.2s": {200 * time.Millisecond, false},
		"7": {7 * time.Millisecond, true},
	} {
		target := "srt://" + at + "?latency=" + value
		before := len(daemon.Said.String())
		relayed := feed(t, target)
		fromRelay := wantCaller(t, callers)
		answer := put(t, daemonAt, "PUT", "/"+target)
		fromDaemon := wantCaller(t, callers)
		for front, got := range map[string]struct {
			caller
			outcome
			ok int
		}{
			"relay": {fromRelay, relayed, 0},
			"PUT":   {fromDaemon, outcome{answer.code, daemon.Said.String()[before:]}, 200},
		} {
			if got.code != got.ok || got.rcv != tc.want || got.snd != tc.want {
				t.Errorf("%s latency=%s: ended with %d, latency %v and %v, want %v", front, value, got.code, got.rcv, got.snd, tc.want)
			}
			if strings.Contains(got.said, "odd option") != tc.doubtful {
				t.Errorf("%s latency=%s: doubtful is %v, it says %s", front, value, tc.doubtful, got.said)
			}
			if tc.doubtful {
				got.wantSays(t, front, "latency", "milliseconds")
			}
		}
	}
}

// C22: a listener's wait and a call end when the options say so.
func TestC22Timeouts(t *testing.T) {
	t.Parallel()
	nobody := newSilentPort(t)
	for what, tc := range map[string]struct {
		args []string
		code int
		took time.Duration
	}{
		"connect_timeout": {[]string{"relay", "srt://" + nobody.addr() + "?connect_timeout=500&reconnect=0", "-"}, 4, 500 * time.Millisecond},
		"listen_timeout":  {[]string{"relay", fmt.Sprintf("srt://127.0.0.1:%d?mode=listener&listen_timeout=0.5s", port.Free(t)), "-"}, 4, 500 * time.Millisecond},
		"--timeout":       {[]string{"relay", "--timeout", "700ms", "srt://" + nobody.addr() + "?connect_timeout=200ms", "-"}, 5, 700 * time.Millisecond},
	} {
		begun := time.Now()
		got := runBinary(t, tc.args...)
		if took := time.Since(begun); got.code != tc.code || took < tc.took || took > tc.took+2*time.Second {
			t.Errorf("%s: ended with %d after %v, want %d after %v; it said %s", what, got.code, took, tc.code, tc.took, got.said)
		}
	}
}
