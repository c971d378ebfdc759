//go:build !linux

package inflow

import (
	"errors"
	"net"
	"time"
)

// Elsewhere every connection is read as it is: newSocket says so, and of the
// rest nothing is ever called.

var errNothing = errors.New("nothing there")

type socket struct{}

func newSocket(*net.TCPConn) (*socket, bool) { return nil, false }

func (s *socket) begin() bool { return false }
func (s *socket) end()        {}

func (s *socket) read([]byte) (int, time.Duration, error) { return 0, 0, errNothing }
func (s *socket) more([]byte) (int, error)                { return 0, errNothing }

type bell struct{}

func newBell() (*bell, error) { return nil, errors.ErrUnsupported }

func (b *bell) ring()  {}
func (b *bell) wait()  {}
func (b *bell) close() {}

type timer struct{}

func newTimer() (*timer, error) { return nil, errors.ErrUnsupported }

func (t *timer) wait(until time.Time) time.Time { return until }
func (t *timer) close()                         {}
