package loop

// bell wakes the one goroutine that waits in a ReadySet. There are two: on Linux
// bell_linux.go, else chanBell.
type bell interface {
	// ring ends a wait, or the next one. Any goroutine may call it before close.
	ring()
	// wait returns after ring; it may return for no reason.
	wait()
	close()
}

// chanBell is a bell made of a channel.
type chanBell chan struct{}

func newChanBell() bell { return make(chanBell, 1) }

func (b chanBell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

func (b chanBell) wait()  { <-b }
func (b chanBell) close() {}
