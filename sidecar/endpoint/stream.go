package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// streamEnd is a unix or TCP stream socket. A source listens and takes one
// writer after another; a destination dials. listen=0 and listen=1 turn it
// round: a listening destination serves any number of readers.
type streamEnd struct {
	cutter
	network, addr string
	listen        bool
	source        bool

	mu sync.Mutex
	ln net.Listener
}

func parseStream(raw string, source bool) (*streamEnd, error) {
	rest, query := splitQuery(raw)
	network, addr, _ := strings.Cut(rest, ":")
	e := &streamEnd{network: strings.ToLower(network), addr: strings.TrimPrefix(addr, "//"), listen: source, source: source}
	opts, err := options(query, "listen")
	if err != nil {
		return nil, err
	}
	if v, ok := opts["listen"]; ok {
		if e.listen, err = parseBool("listen", v); err != nil {
			return nil, err
		}
	}
	return e, e.check()
}

func (e *streamEnd) check() error {
	if e.addr == "" {
		return &URLError{Problem: e.network + ": needs an address, as in unix:/run/a.sock or tcp://127.0.0.1:7000"}
	}
	if e.network == "unix" {
		return nil
	}
	if _, _, err := net.SplitHostPort(e.addr); err != nil {
		return &URLError{Problem: "tcp:// needs host:port, as in tcp://127.0.0.1:7000"}
	}
	return nil
}

// URL implements End.
func (e *streamEnd) URL() string {
	sep := ":"
	if e.network == "tcp" {
		sep = "://"
	}
	return fmt.Sprintf("%s%s%s?listen=%d", e.network, sep, e.addr, b2i(e.listen))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// encoderWait is how long a writer that came at once is kept waiting for the
// outputs: a connection takes less, and an encoder must not stall.
const encoderWait = 250 * time.Millisecond

// Traits implements End. A dialled source ends with its stream; all other ends
// wait or call again.
func (e *streamEnd) Traits() Traits {
	t := Traits{Listens: e.listen, Again: e.listen || !e.source, StartWait: pipeWait, Patience: pipePatience}
	if e.listen {
		t.StartWait = encoderWait
	}
	return t
}

// Listen implements Binder.
func (e *streamEnd) Listen(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ln != nil || !e.listen {
		return nil
	}
	if e.network == "unix" {
		removeStale(e.addr)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, e.network, e.addr)
	e.ln = ln
	return err
}

// removeStale removes a socket file that a crashed process left: one at which
// nobody answers.
func removeStale(path string) {
	st, err := os.Lstat(path)
	if err != nil || st.Mode()&fs.ModeSocket == 0 {
		return
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
		return
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(path)
	}
}

// Close implements End.
func (e *streamEnd) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ln == nil {
		return nil
	}
	return e.ln.Close()
}

func (e *streamEnd) open(ctx context.Context) (net.Conn, error) {
	if !e.listen {
		var d net.Dialer
		return d.DialContext(ctx, e.network, e.addr)
	}
	if err := e.Listen(ctx); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { e.ln.Close() })
	defer stop()
	c, err := e.ln.Accept()
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, err
}

// OpenSource implements SourceEnd.
func (e *streamEnd) OpenSource(ctx context.Context) (Source, error) {
	c, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return e.cut(c), nil
}

// OpenSink implements SinkEnd.
func (e *streamEnd) OpenSink(ctx context.Context) (Sink, error) {
	c, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return newWriterSink(c), nil
}
