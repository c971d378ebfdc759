package endpoint

import (
	"net"
	"os"
)

// Inheritor is an end that can listen with a socket that was there before this
// process: from systemd, or from the process that this one follows.
type Inheritor interface {
	// Inherit tells where to look: find returns the listener of a network (tcp or
	// unix) and address, each one once, or nil. It is called before Listen.
	Inherit(find func(network, addr string) net.Listener)
}

// Inherit implements Inheritor.
func (e *streamEnd) Inherit(find func(network, addr string) net.Listener) { e.inherited = find }

// Files are duplicates of the listening sockets, for another process.
func (e *streamEnd) Files() ([]*os.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d, ok := e.ln.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, nil
	}
	f, err := d.File()
	if err != nil {
		return nil, err
	}
	return []*os.File{f}, nil
}

// Retire leaves callers to come to the process that takes over. Who has been let in
// is served; a unix socket's name stays.
func (e *streamEnd) Retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ln == nil || e.given {
		return
	}
	e.given = true
	if u, ok := e.ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	e.ln.Close()
}

func (e *streamEnd) isGiven() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.given
}
