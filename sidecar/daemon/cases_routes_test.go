package daemon

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
)

// far is a listener that routes call.
type far struct {
	t    *testing.T
	ln   *srtcore.Listener
	addr string
}

func listenFar(t *testing.T, addr string) *far {
	t.Helper()
	cfg := srtcore.DefaultConfig()
	cfg.RcvLatency = 0
	ln, err := srtcore.Listen(t.Context(), addr, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return &far{t, ln, ln.Addr().String()}
}

func (f *far) accept() *srtcore.Conn {
	f.t.Helper()
	c, err := f.ln.Accept(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Abort() })
	return c
}

// calling is a route whose one output is the URL.
func calling(url string) string {
	return "routes:\n  - name: out\n    source: { publish: { listener: main, stream: in } }\n    outputs: [ \"" + url + "\" ]\n"
}

// C04: a stream id of a route's URL arrives the same, however it is written.
func TestC04StreamIDsOfRoutes(t *testing.T) {
	for raw, want := range map[string]string{
		"#!::r=live/a,m=publish":                 "#!::r=live/a,m=publish",
		"%23%21%3A%3Ar%3Dlive%2Fa%2Cm%3Dpublish": "#!::r=live/a,m=publish",
		"%23!::r=live/a,m=publish&latency=20":    "#!::r=live/a,m=publish",
		"a%26b":                                  "a&b",
		"a+b":                                    "a+b",
		"100%25":                                 "100%",
		"%2523":                                  "%23",
		strings.Repeat("x", 512) + "&connect_timeout=1": strings.Repeat("x", 512),
	} {
		f := listenFar(t, "127.0.0.1:0")
		t.Run(fmt.Sprintf("%.40s", raw), func(t *testing.T) {
			newRig(t, calling("srt://"+f.addr+"?streamid="+raw))
			if got := f.accept().StreamID(); got != want {
				t.Errorf("%q arrived, want %q", got, want)
			}
		})
	}
}

// C04, C22: what is refused is refused when the file is read, with line,
// key and remedy, and not a packet is sent.
func TestC04C22RefusedURLsOfRoutes(t *testing.T) {
	at := fmt.Sprintf("127.0.0.1:%d", port.Free(t))
	silent, err := net.ListenPacket("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	r := newRig(t, "routes:\n"+studio("a"))
	for query, says := range map[string][]string{
		"streamid=100%":                        {"streamid", "%25"},
		"streamid=%zz":                         {"streamid", "%25"},
		"streamid=" + strings.Repeat("x", 513): {"streamid", "512"},
		"streamid=a%00b":                       {"streamid", "zero byte"},
		"latancy=200":                          {"latancy", "latency"},
		"latency=200000":                       {"latency", "0..65535 ms"},
		"latency=200x":                         {"latency", "ms"},
		"payloadsize=1457":                     {"payloadsize", "1456"},
		"connect_timeout=-1":                   {"connect_timeout"},
	} {
		r.write(calling("srt://" + at + "?" + query))
		err := r.Reload()
		if err == nil {
			t.Errorf("%s was taken over", query)
			continue
		}
		for _, word := range append(says, "weirline.yaml:6: routes[0].outputs[0].url") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q is not in %v", query, word, err)
			}
		}
	}
	if names := r.names(); names != "a" {
		t.Errorf("routes: %s", names)
	}
	_ = silent.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, from, err := silent.ReadFrom(make([]byte, 1500)); err == nil {
		t.Errorf("%d bytes came from %v", n, from)
	}
}

// C22: a latency of a route's URL is the same on the wire in whatever unit, and a
// doubtful one is spoken of.
func TestC22UnitsOfRoutes(t *testing.T) {
	f := listenFar(t, "127.0.0.1:0")
	for value, want := range map[string]time.Duration{
		"200": 200 * time.Millisecond, "200ms": 200 * time.Millisecond, "200000us": 200 * time.Millisecond,
		"0.2s": 200 * time.Millisecond, "7": 7 * time.Millisecond,
	} {
		t.Run(value, func(t *testing.T) {
			r := newRig(t, calling("srt://"+f.addr+"?latency="+value))
			if c := f.accept(); c.RcvLatency() != want || c.PeerLatency() != want {
				t.Errorf("latency %v and %v, want %v", c.RcvLatency(), c.PeerLatency(), want)
			}
			cfg, err := config.Load(r.file, nil)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(cfg.Warnings(), "\n")
			if doubtful := want < 20*time.Millisecond; doubtful != strings.Contains(said, "latency") || doubtful && !strings.Contains(said, "milliseconds") {
				t.Errorf("warnings: %q", said)
			}
		})
	}
}

// C16: what a publisher has sent before it leaves reaches the players, and so does
// what has come before the daemon stops; the last packet is lost once on each way.
func TestC16LastPacketsThroughTheDaemon(t *testing.T) {
	const n = 300
	lastOnce := impair.Path{Drop: []impair.Rule{{Kind: impair.Data, Skip: n - 1, Count: 1}}}
	for _, latency := range []time.Duration{120 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second} {
		for _, who := range []string{"publisher", "daemon"} {
			t.Run(fmt.Sprintf("%v/%s leaves", latency, who), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "routes:\n"+studio("a"))
				dial := func(address, id string) *srtcore.Conn {
					cfg := srtcore.DefaultConfig()
					cfg.StreamID, cfg.RcvLatency, cfg.PeerLatency = id, latency, latency
					c, err := srtcore.Dial(r.ctx, address, &cfg)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Abort() })
					return c
				}
				player := dial(r.link(impair.Path{}, lastOnce).Addr(), "#!::r=a")
				publisher := dial(r.link(lastOnce, impair.Path{}).Addr(), "#!::r=a,m=publish")
				r.up("a", 1)
				got := make(chan int, 1)
				go func() { got <- countStream(player, 'a') }()
				r.feed(publisher, 'a', 0, n)
				if who == "publisher" {
					begun := time.Now()
					if err := publisher.Close(); err != nil || time.Since(begun) > latency+3*time.Second {
						t.Errorf("the publisher left after %v: %v", time.Since(begun), err)
					}
				}
				r.eventually("all to be on its way", func() bool { return r.Routes()[0].Media.Messages == n })
				begun := time.Now()
				r.Stop()
				if took := time.Since(begun); took > latency+3*time.Second {
					t.Errorf("the daemon stopped after %v", took)
				}
				if k := <-got; k != n {
					t.Errorf("%d of %d messages", k, n)
				}
			})
		}
	}
}

// countStream reads a stream from its beginning to the end of the connection, or
// to what does not belong there.
func countStream(c *srtcore.Conn, stream byte) (n int) {
	c.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 2000)
	for {
		k, err := c.Read(b)
		if err != nil || !bytes.Equal(b[:k], message(stream, n)) {
			return n
		}
		n++
	}
}

// C23: the far end of an output comes and goes; the route's publisher, its player
// and a file beside it never notice, and media flows again when it is back.
func TestC23FarEndOfARouteRestarts(t *testing.T) {
	at := fmt.Sprintf("127.0.0.1:%d", port.Free(t))
	file := filepath.Join(t.TempDir(), "kept.ts")
	r := newRig(t, `routes:
  - name: a
    source: { publish: { listener: main, stream: a } }
    outputs: [ { play: { listener: main, stream: a } }, "srt://`+at+`?latency=60&connect_timeout=300ms", "file://`+file+`" ]
`)
	publisher, player := r.publish("a"), r.player(r.address(), "stays")
	r.up("a", 1)
	stop, total := make(chan struct{}), make(chan int)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				total <- i
				return
			case <-tick.C:
			}
			if _, err := publisher.Write(message('a', i)); err != nil {
				t.Errorf("the publisher: %v", err)
			}
		}
	}()
	for i, gap := range []time.Duration{0, 500 * time.Millisecond, time.Second, 0} {
		time.Sleep(gap)
		f := listenFar(t, at)
		begun := time.Now()
		c := f.accept()
		first := r.firstOf(c, 'a', 1<<20)
		r.wantStream(c, 'a', first+1, first+50)
		if took := time.Since(begun); took > 10*time.Second+gap {
			t.Errorf("restart %d: media after %v", i, took)
		}
		if i%2 == 0 {
			_ = c.Close()
		} else {
			_ = c.Abort()
		}
		_ = f.ln.Close()
	}
	close(stop)
	n := <-total
	r.wantStream(player, 'a', 0, n)
	r.eventually("the file to have all", func() bool { return r.Routes()[0].Outputs[2].Queue.Read == uint64(n) })
	s := r.Routes()[0]
	if s.Source.Opened != 1 || s.Outputs[0].Opened != 1 || s.Outputs[1].Opened < 4 || s.Outputs[2].Queue.Dropped != 0 {
		t.Errorf("source opened %d times, player %d, far end %d; the file lost %d", s.Source.Opened, s.Outputs[0].Opened, s.Outputs[1].Opened, s.Outputs[2].Queue.Dropped)
	}
	r.Stop()
	text, err := os.ReadFile(file)
	if err != nil || len(text) != n*1316 {
		t.Fatalf("the file has %d bytes, want %d: %v", len(text), n*1316, err)
	}
	for i := range n {
		if !bytes.Equal(text[i*1316:(i+1)*1316], message('a', i)) {
			t.Fatalf("the file differs at message %d", i)
		}
	}
}
