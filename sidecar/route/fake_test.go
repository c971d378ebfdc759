package route

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// fakeSource is a source end fed by the test: each value of sessions is one
// session, whose closing is its end.
type fakeSource struct {
	traits   endpoint.Traits
	sessions chan chan string
	openErr  chan error // if one is there, the next open fails with it
}

func newFakeSource(t endpoint.Traits) *fakeSource {
	return &fakeSource{traits: t, sessions: make(chan chan string, 10), openErr: make(chan error, 10)}
}

func (f *fakeSource) URL() string             { return "fake source" }
func (f *fakeSource) Traits() endpoint.Traits { return f.traits }
func (f *fakeSource) Close() error            { return nil }

func (f *fakeSource) OpenSource(ctx context.Context) (endpoint.Source, error) {
	select {
	case err := <-f.openErr:
		return nil, err
	default:
	}
	select {
	case s := <-f.sessions:
		return &fakeSourceSession{in: s, closed: make(chan struct{})}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type fakeSourceSession struct {
	in     chan string
	once   sync.Once
	closed chan struct{}
}

func (s *fakeSourceSession) ReadBatch(dst [][]byte) (int, error) {
	select {
	case m, ok := <-s.in:
		if !ok {
			return 0, io.EOF
		}
		dst[0] = []byte(m)
		return 1, nil
	case <-s.closed:
		return 0, net.ErrClosed
	}
}

func (s *fakeSourceSession) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// fakeSink is an output end. Every open takes the next answer: nil opens a
// session, an error fails. A listening one waits for an answer.
type fakeSink struct {
	traits  endpoint.Traits
	answers chan error
	gate    chan struct{} // not nil: each write of a session waits for a token
	mu      sync.Mutex
	got     []*fakeSinkSession
	changed chan struct{}
}

func newFakeSink(t endpoint.Traits) *fakeSink {
	return &fakeSink{traits: t, answers: make(chan error, 100), changed: make(chan struct{}, 1)}
}

func (f *fakeSink) URL() string             { return "fake sink" }
func (f *fakeSink) Traits() endpoint.Traits { return f.traits }
func (f *fakeSink) Close() error            { return nil }

func (f *fakeSink) OpenSink(ctx context.Context) (endpoint.Sink, error) {
	var err error
	select {
	case err = <-f.answers:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	s := &fakeSinkSession{of: f, done: make(chan struct{})}
	f.mu.Lock()
	f.got = append(f.got, s)
	f.mu.Unlock()
	f.tell()
	return s, nil
}

func (f *fakeSink) tell() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// wait waits until session i has got exactly want.
func (f *fakeSink) wait(t *testing.T, i int, want string) *fakeSinkSession {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		f.mu.Lock()
		var s *fakeSinkSession
		got := "(no session)"
		if i < len(f.got) {
			s, got = f.got[i], f.got[i].text
		}
		f.mu.Unlock()
		if got == want {
			return s
		}
		select {
		case <-f.changed:
		case <-deadline:
			t.Fatalf("session %d got %d bytes ending in %q, want %d ending in %q", i, len(got), got[max(0, len(got)-99):], len(want), want[max(0, len(want)-99):])
		}
	}
}

// text is what session i has got so far.
func (f *fakeSink) text(i int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got[i].text
}

type fakeSinkSession struct {
	of     *fakeSink
	text   string
	once   sync.Once
	done   chan struct{}
	closed bool // gracefully
}

func (s *fakeSinkSession) WriteBatch(msgs [][]byte) error {
	if s.of.gate != nil {
		select {
		case <-s.of.gate:
		case <-s.done:
		}
	}
	select {
	case <-s.done:
		return errors.New("connection lost")
	default:
	}
	s.of.mu.Lock()
	for _, m := range msgs {
		s.text += string(m)
	}
	s.of.mu.Unlock()
	s.of.tell()
	return nil
}

func (s *fakeSinkSession) Close() error {
	s.of.mu.Lock()
	s.closed = true
	s.of.mu.Unlock()
	s.lose()
	return nil
}

func (s *fakeSinkSession) Abort()                { s.lose() }
func (s *fakeSinkSession) Done() <-chan struct{} { return s.done }
func (s *fakeSinkSession) Err() error            { return errors.New("peer left") }
func (s *fakeSinkSession) lose()                 { s.once.Do(func() { close(s.done) }) }
func (s *fakeSinkSession) wasClosed() bool       { s.of.mu.Lock(); defer s.of.mu.Unlock(); return s.closed }
