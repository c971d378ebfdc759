package endpoint

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// succession lets a listening source go over to its caller's successor. A source
// has one caller at a time and the next ones wait. Of a program that dies and is
// started again the dead connection would hold the place for the peer idle time.
// A caller from the very address of one that has fallen silent is taken for the
// same program. The address alone says too little: callers of one program may
// share a port and both live.
type succession struct {
	mu      sync.Mutex
	waiting []*srtcore.Conn // callers that came meanwhile, oldest first
	watched chan struct{}   // closed when the last session is watched no more
}

const (
	// silence is how long nothing may come from a living caller that sends.
	silence = 400 * time.Millisecond
	// mostWaiting bounds the callers taken out of the listener's backlog.
	mostWaiting = 16
)

var errReplaced = errors.New("silent, and a new caller came from its address")

// watch looks for a successor of src until its connection has ended.
func (s *succession) watch(ln *srtcore.Listener, src *srtSource) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-src.c.Done()
		cancel()
	}()
	watched := make(chan struct{})
	s.mu.Lock()
	s.watched = watched
	s.mu.Unlock()
	go func() {
		defer close(watched)
		for range mostWaiting {
			next, err := ln.Accept(ctx)
			if err != nil {
				return
			}
			s.add(next)
			if next.RemoteAddr().String() == src.Peer() && silent(ctx, src.c) {
				src.replace()
				return
			}
		}
	}()
}

// silent reports whether no media comes for a while.
func silent(ctx context.Context, c *srtcore.Conn) bool {
	before := c.Stats().PktRecvTotal
	select {
	case <-ctx.Done():
		return false
	case <-time.After(silence):
		return c.Stats().PktRecvTotal == before
	}
}

func (s *succession) add(c *srtcore.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, c)
}

// take returns the first waiting caller that has not left, or nil. The last
// session has ended, so its watcher is about to.
func (s *succession) take() *srtcore.Conn {
	s.mu.Lock()
	watched := s.watched
	s.mu.Unlock()
	if watched != nil {
		<-watched
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) > 0 {
		c := s.waiting[0]
		s.waiting = s.waiting[1:]
		if c.Err() == nil {
			return c
		}
		_ = c.Abort()
	}
	return nil
}

// close turns away who still waits.
func (s *succession) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.waiting {
		_ = c.Abort()
	}
	s.waiting = nil
}
