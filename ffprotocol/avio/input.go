package avio

import (
	"context"
	"fmt"
	"sync"

	"github.com/asticode/go-astiav"

	"github.com/weirline/weirline/ffprotocol"
)

// Input is an SRT connection to demux from. The methods of its Reader tell about
// the connection, live: Stats, Err, Conn. Reading is the demuxer's.
type Input struct {
	*ffprotocol.Reader
	io    *astiav.IOContext
	gate  *gate
	close sync.Once
}

// OpenInput connects as ffprotocol.OpenReader does. The end of ctx ends a call
// of FFmpeg that waits for data; its error is then astiav.ErrExit.
func OpenInput(ctx context.Context, url string) (*Input, error) {
	r, err := ffprotocol.OpenReader(ctx, url)
	if err != nil {
		return nil, err
	}
	return NewInput(r, inputMessages)
}

// NewInput reads from r, which it owns from then on, through a buffer of so many
// messages of 1316 bytes. If it fails, r is closed.
func NewInput(r *ffprotocol.Reader, messages int) (*Input, error) {
	in := &Input{Reader: r, gate: newGate(r.ReadPacket)}
	size, err := bufferSize(messages)
	if err == nil {
		in.io, err = astiav.AllocIOContext(size, false, in.gate.call, nil, nil)
	}
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("avio: %w", err)
	}
	return in, nil
}

// IOContext is for FormatContext.SetPb. It is freed by Close.
func (in *Input) IOContext() *astiav.IOContext { return in.io }

// Close ends the connection and frees the IOContext. Call it after the format
// context's CloseInput, when FFmpeg does not run any more; to end a call of
// FFmpeg from elsewhere, end the context.
func (in *Input) Close() (err error) {
	in.close.Do(func() {
		in.gate.shut()
		err = in.Reader.Close()
		in.io.Free()
	})
	return err
}
