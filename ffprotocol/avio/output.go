package avio

import (
	"context"
	"fmt"
	"sync"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol"
)

// Output is an SRT connection to mux to. The methods of its Writer tell about
// the connection, live: Stats, Err, Conn. Writing is the muxer's.
//
// A muxer flushes after every packet, so that each frame ends with a message
// shorter than 1316 bytes: the least delay. With flush_packets set to 0 among
// the options of WriteHeader all messages are full, and a frame's end waits for
// the next frame; NewOutput with a buffer of one message waits for the least.
type Output struct {
	*ffprotocol.Writer
	io    *astiav.IOContext
	gate  *gate
	close sync.Once
}

// OpenOutput connects as ffprotocol.OpenWriter does. The end of ctx ends a call
// of FFmpeg that waits for room; its error is then astiav.ErrExit.
func OpenOutput(ctx context.Context, url string) (*Output, error) {
	w, err := ffprotocol.OpenWriter(ctx, url)
	if err != nil {
		return nil, err
	}
	return NewOutput(w, outputMessages)
}

// NewOutput writes to w, which it owns from then on, through a buffer of so many
// messages of 1316 bytes. If it fails, w is closed.
func NewOutput(w *ffprotocol.Writer, messages int) (*Output, error) {
	out := &Output{Writer: w, gate: newGate(w.WritePacket)}
	size, err := bufferSize(messages)
	if err == nil {
		out.io, err = astiav.AllocIOContext(size, true, nil, nil, out.gate.call)
	}
	if err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("avio: %w", err)
	}
	return out, nil
}

// IOContext is for FormatContext.SetPb. It is freed by Close.
func (out *Output) IOContext() *astiav.IOContext { return out.io }

// Close flushes, waits until the peer has had time to play everything, and frees
// the IOContext. Call it after WriteTrailer, when FFmpeg does not run any more;
// the end of the context ends the waiting, and a call of FFmpeg that blocks. The
// error is that of ffprotocol.Writer.Close.
func (out *Output) Close() (err error) {
	out.close.Do(func() {
		out.io.Flush()
		out.gate.shut()
		err = out.Writer.Close()
		out.io.Free()
	})
	return err
}
