package loop

// signal wakes goroutines that wait for a queue to change. waiters is guarded
// by the queue's lock; a token that nobody needs any more is harmless, because
// whoever takes it looks at the queue again.
type signal struct {
	waiters int
	ch      chan struct{}
}

func newSignal() signal { return signal{ch: make(chan struct{}, 1)} }

// raise wakes one waiter; whoever leaves something behind raises again.
func (s *signal) raise() {
	if s.waiters == 0 {
		return
	}
	select {
	case s.ch <- struct{}{}:
	default:
	}
}
