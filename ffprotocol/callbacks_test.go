package ffprotocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/weirline/weirline/srtcore"
)

func TestAVError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{io.EOF, -541478725},
		{fmt.Errorf("wrapped: %w", io.EOF), -541478725},
		{fmt.Errorf("%w: %w", ErrStopped, errors.New("closing time")), -1414092869},
		{context.Canceled, -1414092869},
		{context.DeadlineExceeded, -1414092869},
		{srtcore.ErrClosed, -1414092869},
		{net.ErrClosed, -1414092869},
		{srtcore.ErrPeerClosed, -32},
		{srtcore.ErrPeerIdle, -5},
		{srtcore.ErrTimeout, -5},
		{os.ErrDeadlineExceeded, -5},
		{&srtcore.RejectError{Reason: srtcore.RejBadSecret}, -5},
		{&FaultError{Op: "read", Value: io.EOF}, -558323010},
	} {
		if got := AVError(c.err); got != c.want {
			t.Errorf("AVError(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

// A stream without a connection panics in every callback; C would not survive
// that.
func TestPanicIsAnError(t *testing.T) {
	r, w := &Reader{}, &Writer{}
	for range 2 { // and stays one
		if n := r.ReadPacket(make([]byte, 10)); n != AVErrorBug {
			t.Errorf("ReadPacket = %d, want AVErrorBug", n)
		}
		if n := w.WritePacket([]byte("x")); n != AVErrorBug {
			t.Errorf("WritePacket = %d, want AVErrorBug", n)
		}
	}
	for op, err := range map[string]error{"read": r.Err(), "write": w.Err()} {
		fault, ok := errors.AsType[*FaultError](err)
		if !ok || fault.Op != op || !strings.Contains(err.Error(), "internal fault in "+op+": runtime error") {
			t.Errorf("Err = %v, want a FaultError of %s", err, op)
		}
	}
}
