package ffmpeg

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/proctest"
)

// peer is the other side of an SRT connection, in this process.
type peer struct {
	t    *testing.T
	mu   sync.Mutex
	got  bytes.Buffer
	long int           // longest message
	id   string        // stream id of the first connection
	lat  [2]int        // negotiated latencies of the first connection: receiving, sending
	up   chan struct{} // closed when connected
	end  chan struct{}
	err  error
}

// connect opens url, which this project's options belong to, as caller or
// listener after a delay, and hands the connection to use. A caller tries until somebody
// answers.
func connect(t *testing.T, delay time.Duration, url string, use func(*peer, *srtcore.Conn)) *peer {
	t.Helper()
	target, err := srtcore.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, up: make(chan struct{}), end: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	var ln *srtcore.Listener
	if target.Mode == srtcore.ModeListener {
		if ln, err = target.Listen(ctx); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(p.end)
		time.Sleep(delay)
		c, err := p.open(ctx, target, ln)
		if err != nil {
			p.err = err
			return
		}
		stop := context.AfterFunc(ctx, func() { c.Abort() })
		defer stop()
		st := c.Stats()
		p.mu.Lock()
		p.id, p.lat = c.StreamID(), [2]int{int(st.MsRcvTsbPdDelay), int(st.MsSndTsbPdDelay)}
		p.mu.Unlock()
		close(p.up)
		use(p, c)
		c.Close()
	}()
	t.Cleanup(func() {
		cancel()
		<-p.end
		if ln != nil {
			ln.Close()
		}
	})
	return p
}

func (p *peer) open(ctx context.Context, target *srtcore.Target, ln *srtcore.Listener) (*srtcore.Conn, error) {
	if ln != nil {
		return ln.Accept(ctx)
	}
	for {
		c, err := target.Dial(ctx)
		if err == nil || ctx.Err() != nil {
			return c, err
		}
	}
}

// receive collects what comes until the other side has closed.
func receive(t *testing.T, url string) *peer {
	t.Helper()
	return receiveAfter(t, 0, url)
}

// receiveAfter lets the other side wait first.
func receiveAfter(t *testing.T, delay time.Duration, url string) *peer {
	t.Helper()
	return connect(t, delay, url, (*peer).collect)
}

func (p *peer) collect(c *srtcore.Conn) {
	buf := make([]byte, 1500)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.got.Write(buf[:n])
		p.long = max(p.long, n)
		p.mu.Unlock()
	}
}

// send sends a file in as many seconds as it plays.
func send(t *testing.T, url, file string, seconds float64) *peer {
	t.Helper()
	return connect(t, 0, url, paced(t, file, seconds))
}

// sendAndStay sends a file and keeps the connection until the other side ends it.
func sendAndStay(t *testing.T, url, file string, seconds float64) *peer {
	t.Helper()
	send := paced(t, file, seconds)
	return connect(t, 0, url, func(p *peer, c *srtcore.Conn) {
		send(p, c)
		p.collect(c)
	})
}

func paced(t *testing.T, file string, seconds float64) func(*peer, *srtcore.Conn) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(p *peer, c *srtcore.Conn) {
		const message = 1316
		each := time.Duration(seconds * float64(time.Second) * message / float64(len(data)))
		next := time.Now()
		for rest := data; len(rest) > 0; {
			n := min(message, len(rest))
			if _, err := c.Write(rest[:n]); err != nil {
				p.err = err
				return
			}
			rest = rest[n:]
			next = next.Add(each)
			time.Sleep(time.Until(next))
		}
	}
}

// connected waits for the connection.
func (p *peer) connected() {
	p.t.Helper()
	select {
	case <-p.up:
	case <-time.After(proctest.Patience):
		p.t.Fatal("the peer is not connected")
	}
}

// done waits for the connection to have come to its end.
func (p *peer) done() {
	p.t.Helper()
	select {
	case <-p.end:
	case <-time.After(proctest.Patience):
		p.t.Error("the peer's connection does not end")
	}
}

// bytes is how much has come so far.
func (p *peer) bytes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got.Len()
}

// file writes what came into a file, once the connection has ended.
func (p *peer) file() string {
	p.t.Helper()
	p.done()
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := os.CreateTemp(p.t.TempDir(), "got")
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(p.got.Bytes()); err != nil {
		p.t.Fatal(err)
	}
	return filepath.Clean(f.Name())
}
