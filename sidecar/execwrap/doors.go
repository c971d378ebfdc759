package execwrap

import (
	"net"
	"sync"
)

// doors are ports of the loopback, one an address, that together are a listener.
//
// That of an input is shut once somebody has come. FFmpeg asks for an input again
// when it is told to seek; if it cannot connect it goes on with what it has, as it
// does where it knows that it cannot seek. Any answer would confuse it: it then
// reads the rest of the first one wrongly.
type doors struct {
	all   []net.Listener
	err   error // of one that did not open
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

func newDoors() *doors { return &doors{conns: make(chan net.Conn), done: make(chan struct{})} }

// addr is where the i-th is; it opens those up to it.
func (d *doors) addr(i int) string {
	for len(d.all) <= i {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			d.err = err
			return "127.0.0.1:0"
		}
		d.all = append(d.all, ln)
		go d.welcome(sameUser{ln})
	}
	return d.all[i].Addr().String()
}

func (d *doors) welcome(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		select {
		case d.conns <- c:
		case <-d.done:
			c.Close()
			return
		}
	}
}

func (d *doors) shut(i int) { d.all[i].Close() }

// Accept implements net.Listener.
func (d *doors) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (d *doors) Close() error {
	d.close.Do(func() {
		close(d.done)
		for _, ln := range d.all {
			ln.Close()
		}
	})
	return nil
}

// Addr implements net.Listener: of a program without addresses it is none.
func (d *doors) Addr() net.Addr { return &net.TCPAddr{} }
