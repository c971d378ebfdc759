package interop

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/proctest"
)

// library is the package srtcore inside this process.
var library = program{
	name: "srtcore",
	ours: true,
	need: func(*testing.T) {},
	send: func(t *testing.T, s spec) sender { return connect(t, s, nil) },
	recv: func(t *testing.T, s spec, c *collector) receiver { return connect(t, s, c) },
}

// libEnd is an end of a connection made by srtcore.
type libEnd struct {
	t      *testing.T
	sink   *collector
	cancel context.CancelFunc
	ready  chan struct{} // closed when conn or err is set
	conn   *srtcore.Conn
	err    error
	once   sync.Once
	ended  sync.WaitGroup
}

// connect starts to make the connection and, with a sink, to receive.
func connect(t *testing.T, s spec, sink *collector) *libEnd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	e := &libEnd{t: t, sink: sink, cancel: cancel, ready: make(chan struct{})}
	open := e.dial
	if s.listen {
		l, err := srtcore.Listen(ctx, s.addr(), s.config())
		if err != nil {
			t.Fatal(err)
		}
		open = func(ctx context.Context, _ spec) (*srtcore.Conn, error) {
			defer l.Close()
			return l.Accept(ctx)
		}
	}
	e.ended.Go(func() {
		e.conn, e.err = open(ctx, s)
		close(e.ready)
		if sink != nil {
			e.receive()
		}
	})
	t.Cleanup(e.stop)
	return e
}

func (s spec) config() *srtcore.Config {
	cfg := srtcore.DefaultConfig()
	cfg.RcvLatency, cfg.PeerLatency = s.latency, s.latency
	if s.keyLen > 0 {
		cfg.Passphrase, cfg.PBKeyLen = passphrase, s.keyLen
	}
	return &cfg
}

func (e *libEnd) dial(ctx context.Context, s spec) (*srtcore.Conn, error) {
	return srtcore.Dial(ctx, s.addr(), s.config())
}

func (e *libEnd) receive() {
	defer e.sink.end()
	if e.err != nil {
		e.t.Errorf("connecting: %v", e.err)
		return
	}
	buf := make([]byte, 2048)
	for {
		n, err := e.conn.Read(buf)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			if !errors.Is(err, srtcore.ErrClosed) {
				e.t.Errorf("reading: %v", err)
			}
			return
		}
		_, _ = e.sink.Write(buf[:n])
	}
}

// Write sends one message.
func (e *libEnd) Write(b []byte) (int, error) {
	<-e.ready
	if e.err != nil {
		return 0, e.err
	}
	return e.conn.Write(b)
}

func (e *libEnd) content() *collector { return e.sink }

// finish closes: Close returns when the peer has had time to play the tail.
func (e *libEnd) finish() (err error) {
	e.once.Do(func() {
		e.cancel()
		<-e.ready
		if e.err == nil {
			err = e.conn.Close()
		}
		e.ended.Wait()
	})
	return err
}

func (e *libEnd) stop() { _ = e.finish() }
