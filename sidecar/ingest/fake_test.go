package ingest

import (
	"context"
	"io"
	"net"
	"sync"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// fakeEnd stands in for SRT: what it is sent collects in got, what it yields
// comes from feed.
type fakeEnd struct {
	listens bool
	again   bool
	addr    string
	fail    error // of opening
	opened  chan struct{}
	feed    chan string

	mu     sync.Mutex
	got    string
	closed bool
}

func newFakeEnd() *fakeEnd {
	return &fakeEnd{addr: "h:1", opened: make(chan struct{}, 10), feed: make(chan string, 10)}
}

func (f *fakeEnd) URL() string { return "srt://fake" }
func (f *fakeEnd) Traits() endpoint.Traits {
	return endpoint.Traits{Listens: f.listens, Again: f.again}
}
func (f *fakeEnd) Close() error                 { return nil }
func (f *fakeEnd) Listen(context.Context) error { return nil }
func (f *fakeEnd) Listens() bool                { return f.listens }
func (f *fakeEnd) Addr() string                 { return f.addr }
func (f *fakeEnd) Warnings() []string           { return nil }

func (f *fakeEnd) OpenSink(ctx context.Context) (endpoint.Sink, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	if f.listens && len(f.opened) > 0 { // one caller came, no more
		<-ctx.Done()
		return nil, ctx.Err()
	}
	select {
	case f.opened <- struct{}{}:
		return fakeSession{f}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fakeEnd) OpenSource(ctx context.Context) (endpoint.Source, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	f.opened <- struct{}{}
	return &fakeSource{f: f, closed: make(chan struct{})}, nil
}

func (f *fakeEnd) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got
}

type fakeSession struct{ f *fakeEnd }

func (s fakeSession) WriteBatch(msgs [][]byte) error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	for _, m := range msgs {
		s.f.got += string(m)
	}
	return nil
}

func (s fakeSession) Close() error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.closed = true
	return nil
}

func (s fakeSession) Abort() {}

type fakeSource struct {
	f      *fakeEnd
	once   sync.Once
	closed chan struct{}
}

func (s *fakeSource) ReadBatch(dst [][]byte) (int, error) {
	select {
	case m, ok := <-s.f.feed:
		if !ok {
			return 0, io.EOF
		}
		dst[0] = []byte(m)
		return 1, nil
	case <-s.closed:
		return 0, net.ErrClosed
	}
}

func (s *fakeSource) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
