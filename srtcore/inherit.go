package srtcore

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/weirline/weirline/srtcore/internal/loop"
)

// InheritSocket keeps a UDP socket that is bound already - by systemd's socket
// activation, or by the process before this one - for the Listen that asks for
// exactly its address. What callers sent in the meantime waits in the socket.
// The file is duplicated and may be closed. The address is returned. Linux only;
// elsewhere the error is errors.ErrUnsupported.
func InheritSocket(f *os.File) (netip.AddrPort, error) {
	at, err := loop.Inherit(f.Fd())
	if err != nil {
		return at, fmt.Errorf("srt: inherit %s: %w", f.Name(), err)
	}
	return at, nil
}

// DropInherited closes the sockets kept by InheritSocket that no Listen has
// asked for, and returns their addresses. A program calls it once its listeners
// stand: nobody reads such a socket, yet the system gives it datagrams.
func DropInherited() []netip.AddrPort { return loop.DropInherited() }

// Files returns duplicates of the listening sockets, to be handed to another
// process; see InheritSocket. The port stays bound as long as one of them is
// open. Only one process may read it: close the Listener before the other one
// listens. Linux only; elsewhere the error is errors.ErrUnsupported.
func (l *Listener) Files() ([]*os.File, error) {
	fds, err := l.ll.Duplicate()
	var files []*os.File
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "udp "+l.addr.String()))
	}
	if err == nil && len(files) == 0 {
		err = ErrClosed
	}
	if err != nil {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
		return nil, fmt.Errorf("srt: listener %v: %w", l.addr, err)
	}
	return files, nil
}
