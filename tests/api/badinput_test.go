package api

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/served"
)

// headerLimit is far above what the daemon reads of headers, and what sockets
// hold, and far below the gigabyte that is offered.
const headerLimit = 64 << 20

// TestAGigabyteOfHeaders: whoever sends headers without an end is told so and cut
// off, at both HTTP addresses, again and again. The media that passes meanwhile,
// and others who ask, do not notice; memory stays.
func TestAGigabyteOfHeaders(t *testing.T) {
	t.Parallel()
	srt := port.Addr(t)
	d := served.Start(t, "", configuration(srt))
	served.Publish(t, srt, "#!::r=live/studio,m=publish", 's', 2)
	player := served.Play(t, srt, "#!::r=live/studio,m=request,u=witness", 's')
	player.WantMore("the witness")
	heap := heapOf(d)
	for _, where := range []struct{ addr, path string }{
		{strings.TrimPrefix(d.URL, "http://"), "/v1/status"},
		{d.HTTP, "/srt://127.0.0.1:9?mode=caller"},
	} {
		for _, how := range []string{"many", "one"} {
			t.Run(how+" at "+where.path, func(t *testing.T) {
				sent, status := flood(t, where.addr, where.path, how == "one")
				if !strings.Contains(status, " 431 ") {
					t.Errorf("after %d bytes of headers: answer %q, want 431", sent, status)
				}
				if sent > headerLimit {
					t.Errorf("%d bytes of headers were taken", sent)
				}
				t.Logf("cut off after %d kB", sent>>10)
			})
		}
		if status, text := d.Do(http.MethodGet, "/v1/status", ""); status != 200 {
			t.Errorf("another client: %d %s", status, text)
		}
	}
	player.WantMore("the witness")
	if now := heapOf(d); now > heap+(32<<20) {
		t.Errorf("the heap grew from %d to %d bytes", heap, now)
	}
}

func heapOf(d *served.Daemon) int64 {
	var s struct{ HeapBytes int64 }
	d.Get("/v1/status", &s)
	return s.HeapBytes
}

// flood sends a gigabyte of headers, as one or as many, and returns how much of
// it went out and the first line of the answer.
func flood(t *testing.T, addr, path string, one bool) (sent int, status string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(served.Patience))
	first := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(c).ReadString('\n')
		first <- line
	}()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n", path, addr)
	chunk := []byte(strings.Repeat("X-More: "+strings.Repeat("y", 1014)+"\r\n", 64))
	if one {
		fmt.Fprint(c, "X-More: ")
		chunk = []byte(strings.Repeat("y", 64<<10))
	}
	for sent < 1<<30 {
		n, err := c.Write(chunk)
		sent += n
		if err != nil {
			break
		}
	}
	return sent, <-first
}

// TestSlowHeaders: a client that never finishes its headers does not stay for
// ever, however slowly it goes on.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	d := served.Start(t, "", configuration(port.Addr(t)))
	c, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(served.Patience))
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for in := bufio.NewReader(c); ; {
			if _, err := in.ReadByte(); err != nil {
				return
			}
		}
	}()
	fmt.Fprint(c, "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n")
	begun, tick := time.Now(), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-closed:
			if took := time.Since(begun); took > served.Patience-time.Second {
				t.Errorf("it was cut off by this test and not by the daemon")
			}
			return
		case <-tick.C:
			fmt.Fprintf(c, "X-%d: y\r\n", n)
		}
	}
}

// TestBeyondThisMachine: where others reach the control surface it demands a
// token, before anything is served, and knows itself by its own address only.
func TestBeyondThisMachine(t *testing.T) {
	t.Parallel()
	_, p, _ := net.SplitHostPort(port.Addr(t))
	addr := "0.0.0.0:" + p
	ctx, cancel := context.WithTimeout(context.Background(), served.Patience)
	defer cancel()
	said, err := exec.CommandContext(ctx, served.Program, "serve", "--listen", "off", "--control", addr).CombinedOutput()
	if err == nil || ctx.Err() != nil || !strings.Contains(string(said), "control.token") || !strings.Contains(string(said), "127.0.0.1") {
		t.Errorf("without a token: %v: %s", err, said)
	}
	d := exec.Command(served.Program, "serve", "--listen", "off", "--control", addr)
	d.Env = append(os.Environ(), "WEIRLINE_CONTROL_TOKEN="+token)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	defer d.Wait()
	defer d.Process.Kill()
	ask := func(host, authorization string) int {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+p+"/v1/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", authorization)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0 // not yet
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	served.Until(t, "the daemon to want its token", func() bool { return ask("127.0.0.1", "") == 401 })
	if got := ask("127.0.0.1:"+p, "Bearer "+token); got != 200 {
		t.Errorf("with the token: %d", got)
	}
	for _, host := range []string{"rebound.example", "192.0.2.1", "0.0.0.0"} {
		if got := ask(host, "Bearer "+token); got != 421 {
			t.Errorf("as %s: %d, want 421", host, got)
		}
	}
}
