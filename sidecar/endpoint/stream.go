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
// writer after another, as lobby says; a destination dials. listen=0 and listen=1
// turn it round: a listening destination serves any number of readers.
type streamEnd struct {
	cutter
	network, addr string
	listen        bool
	source        bool

	inherited func(network, addr string) net.Listener // may be nil

	mu    sync.Mutex
	ln    net.Listener
	lobby *lobby // of a listening source
	given bool   // the listening socket is another process's now
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
	ln, err := e.bind(ctx)
	if err != nil {
		return err
	}
	e.ln = ln
	if e.source {
		e.lobby = newLobby()
		go e.lobby.serve(ln)
	}
	return nil
}

// bind takes the socket that was there before this process, or makes one.
func (e *streamEnd) bind(ctx context.Context) (net.Listener, error) {
	if e.inherited != nil {
		if ln := e.inherited(e.network, e.addr); ln != nil {
			return ln, nil
		}
	}
	if e.network == "unix" {
		removeStale(e.addr)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, e.network, e.addr)
}

// stayAlive sets it where the listener that accepted c may not be of our making.
func stayAlive(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetKeepAliveConfig(keepAlive) // at worst a dead host is found later
	}
}

// keepAlive finds out in some ten seconds that a host has died.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

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
	if e.lobby != nil {
		e.lobby.close(net.ErrClosed)
	}
	if e.ln == nil {
		return nil
	}
	return e.ln.Close()
}

func (e *streamEnd) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive}
	return d.DialContext(ctx, e.network, e.addr)
}

// accept waits for the next reader. The listener stays when ctx ends.
func (e *streamEnd) accept(ctx context.Context) (net.Conn, error) {
	if err := e.Listen(ctx); err != nil {
		return nil, err
	}
	c, err := acceptUntil(ctx, e.ln)
	if err != nil && ctx.Err() == nil && e.isGiven() {
		<-ctx.Done() // who calls now, calls the process that has the socket
	}
	switch {
	case err == nil:
		stayAlive(c)
	case ctx.Err() != nil:
		err = ctx.Err()
	}
	return c, err
}

func acceptUntil(ctx context.Context, listener net.Listener) (net.Conn, error) {
	ln := listener.(interface{ SetDeadline(time.Time) error })
	if err := ln.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		_ = ln.SetDeadline(time.Unix(1, 0))
	})
	c, err := listener.Accept()
	if !stop() {
		<-over
	}
	return c, err
}

// OpenSource implements SourceEnd.
func (e *streamEnd) OpenSource(ctx context.Context) (Source, error) {
	if !e.listen {
		c, err := e.dial(ctx)
		if err != nil {
			return nil, err
		}
		return streamSource{e.cut(c), peerOf(c)}, nil
	}
	if err := e.Listen(ctx); err != nil {
		return nil, err
	}
	g, err := e.lobby.next(ctx)
	if err != nil {
		return nil, err
	}
	return streamSource{e.cut(g), peerOf(g)}, nil
}

// OpenSink implements SinkEnd.
func (e *streamEnd) OpenSink(ctx context.Context) (Sink, error) {
	open := e.dial
	if e.listen {
		open = e.accept
	}
	c, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return streamSink{newWriterSink(c), peerOf(c)}, nil
}

type (
	streamSource struct {
		Source
		peer
	}
	streamSink struct {
		*writerSink
		peer
	}
	// peer is the other side's address; unix sockets mostly have none.
	peer string
)

// Peer tells it.
func (p peer) Peer() string { return string(p) }

func peerOf(c net.Conn) peer {
	if a := c.RemoteAddr(); a != nil && a.Network() == "tcp" {
		return peer(a.String())
	}
	return ""
}
