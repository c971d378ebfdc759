// Package service is the daemon's part in the life of a system service: the
// sockets that systemd or the process before this one has opened, the notices
// that systemd wants, and the change to a new binary.
//
// Lives here: Sockets, the upgrade, notices and watchdog.
// May import: srtcore for inherited UDP sockets, go-systemd, net, os/exec.
// Never: any other room of the sidecar.
package service

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/weirline/weirline/srtcore"
)

// Sockets opens the daemon's listening sockets, and takes those first that were
// there before it. UDP ones are given to srtcore, whose Listen takes them.
type Sockets struct {
	mu    sync.Mutex
	given []net.Listener // inherited, not asked for yet
	open  map[string]net.Listener
	heir  *heritage // nil: not made by an upgrade
}

// Inherit takes what systemd (LISTEN_FDS) and an upgrading parent have left.
// It is called once, early: the environment is cleared.
func Inherit() (*Sockets, error) {
	s := &Sockets{open: map[string]net.Listener{}}
	files := activation.Files(true)
	if h := inheritance(); h != nil {
		s.heir = h
		files = append(files, h.files...)
	}
	var errs []error
	for _, f := range files {
		errs = append(errs, s.take(f), f.Close())
	}
	return s, errors.Join(errs...)
}

// isUDP asks the socket itself: package net would take a UDP socket, too, but
// srtcore wants it bare.
func isUDP(f *os.File) bool {
	c, err := net.FilePacketConn(f)
	if err != nil {
		return false
	}
	defer c.Close()
	_, ok := c.(*net.UDPConn)
	return ok
}

func (s *Sockets) take(f *os.File) error {
	if isUDP(f) {
		_, err := srtcore.InheritSocket(f)
		return err
	}
	ln, err := net.FileListener(f)
	if err != nil {
		return fmt.Errorf("inherited socket %s does not listen: %w", f.Name(), err)
	}
	keepPath(ln)
	s.given = append(s.given, ln)
	return nil
}

// keepPath leaves the name of a unix socket to whoever takes it over; it is
// removed before a new one is bound.
func keepPath(ln net.Listener) {
	if u, ok := ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
}

// Listen listens at host:port or unix:PATH. A unix socket that nobody answers at
// is a left-over and replaced.
func (s *Sockets) Listen(addr string) (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	network, at := split(addr)
	ln := s.inherited(network, at)
	if ln == nil {
		var err error
		if ln, err = listen(network, at); err != nil {
			return nil, err
		}
	}
	s.open[addr] = ln
	return ln, nil
}

// Take returns the inherited listener of an address, nil if there is none: for ends
// that listen for themselves. Its holder removes a unix socket's name.
func (s *Sockets) Take(network, at string) net.Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	ln := s.inherited(network, at)
	if u, ok := ln.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(true)
	}
	return ln
}

func split(addr string) (network, at string) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return "unix", path
	}
	return "tcp", addr
}

func (s *Sockets) inherited(network, at string) net.Listener {
	if network == "tcp" {
		a, err := net.ResolveTCPAddr(network, at)
		if err != nil {
			return nil
		}
		if a.IP == nil {
			a.IP = net.IPv6unspecified
		}
		at = a.String()
	}
	for i, ln := range s.given {
		if ln.Addr().Network() == network && ln.Addr().String() == at {
			s.given = append(s.given[:i], s.given[i+1:]...)
			return ln
		}
	}
	return nil
}

func listen(network, at string) (net.Listener, error) {
	if network == "unix" {
		if err := removeStale(at); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen(network, at)
	if err != nil {
		return nil, err
	}
	keepPath(ln)
	return ln, nil
}

// removeStale removes a unix socket whose process is gone, and nothing else.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is no socket: remove it, or choose another path", path)
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
		return fmt.Errorf("%s: another process answers there: %w", path, syscall.EADDRINUSE)
	}
	return os.Remove(path)
}

// Rest closes the inherited sockets that nobody asked for and says which they
// are: the configuration and the socket units do not agree.
func (s *Sockets) Rest() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, ln := range s.given {
		names = append(names, ln.Addr().Network()+" "+ln.Addr().String())
		ln.Close()
	}
	s.given = nil
	for _, at := range srtcore.DropInherited() {
		names = append(names, "udp "+at.String())
	}
	return names
}

// files duplicates the listeners that are open.
func (s *Sockets) files() (all []*os.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ln := range s.open {
		d, ok := ln.(interface{ File() (*os.File, error) })
		if !ok {
			continue
		}
		f, failed := d.File()
		if failed != nil {
			closeAll(all)
			return nil, failed
		}
		all = append(all, f)
	}
	return all, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
