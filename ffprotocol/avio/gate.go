package avio

import (
	"fmt"
	"sync/atomic"

	"github.com/asticode/go-astiav"
)

// callback is ReadPacket or WritePacket.
type callback func([]byte) int

// gate stands between go-astiav and a callback. Up to v0.38 go-astiav keeps the
// functions it was given after Free until their address is used again; a gate
// that is shut lets go of the connection.
type gate struct{ to atomic.Pointer[callback] }

func newGate(to callback) *gate {
	g := &gate{}
	g.to.Store(&to)
	return g
}

func (g *gate) shut() { g.to.Store(nil) }

// call is an IOContextReadFunc and an IOContextWriteFunc. Only an astiav.Error
// reaches FFmpeg as the number it is.
func (g *gate) call(b []byte) (int, error) {
	to := g.to.Load()
	if to == nil {
		return 0, astiav.ErrExit
	}
	n := (*to)(b)
	if n < 0 {
		return 0, astiav.Error(n)
	}
	return n, nil
}

const (
	// message is the usual payload: seven MPEG-TS packets.
	message = 1316
	// MaxMessages bounds the buffer of an IOContext.
	MaxMessages = 1024

	inputMessages  = 4 // go-astiav allocates the whole buffer for each read
	outputMessages = 8
)

// bufferSize returns the bytes of so many messages: whole messages, so that
// FFmpeg hands over whole MPEG-TS packets.
func bufferSize(messages int) (int, error) {
	if messages < 1 || messages > MaxMessages {
		return 0, fmt.Errorf("avio: a buffer of %d messages: allowed are 1 to %d", messages, MaxMessages)
	}
	return messages * message, nil
}
