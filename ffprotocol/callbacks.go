package ffprotocol

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/weirline/weirline/srtcore"
)

// The numbers FFmpeg knows errors by, the same in all its versions and on all
// systems.
const (
	AVErrorEOF  int = -('E' | 'O'<<8 | 'F'<<16 | ' '<<24) // the stream has ended
	AVErrorExit int = -('E' | 'X'<<8 | 'I'<<16 | 'T'<<24) // stopped by this side
	AVErrorBug  int = -('B' | 'U'<<8 | 'G'<<16 | '!'<<24) // a FaultError
	AVErrorEIO  int = -5                                  // the connection failed
	AVErrorPipe int = -32                                 // the peer of a Writer has closed
)

// AVError returns the number for an error of this package, for bindings whose
// callbacks return numbers; 0 for nil.
func AVError(err error) int {
	_, fault := errors.AsType[*FaultError](err)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, io.EOF):
		return AVErrorEOF
	case fault:
		return AVErrorBug
	case errors.Is(err, ErrStopped), errors.Is(err, net.ErrClosed),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return AVErrorExit
	case errors.Is(err, srtcore.ErrPeerClosed):
		return AVErrorPipe
	}
	return AVErrorEIO
}

// ReadPacket is Read as C knows it, the read_packet of avio_alloc_context: the
// number of bytes, which is never 0, or a negative AVERROR.
func (r *Reader) ReadPacket(p []byte) int {
	n, err := r.Read(p)
	switch {
	case err != nil:
		return AVError(err)
	case n == 0: // no room: whoever asks so would take 0 for progress
		return AVErrorEIO
	}
	return n
}

// WritePacket is Write as C knows it, the write_packet of avio_alloc_context:
// len(p), or a negative AVERROR.
func (w *Writer) WritePacket(p []byte) int {
	n, err := w.Write(p)
	if err != nil {
		return AVError(err)
	}
	return n
}
