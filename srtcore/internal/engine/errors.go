package engine

import (
	"errors"
	"fmt"

	"github.com/weirline/weirline/srtcore/wire"
)

// RejectError says that a handshake was refused, by whom and why.
type RejectError struct {
	Reason wire.RejectReason
	Remote bool // true: the peer refused; false: this side did
}

func (e *RejectError) Error() string {
	who := "refused by this side"
	if e.Remote {
		who = "refused by the peer"
	}
	return fmt.Sprintf("srt: connection %s: %v (%d)", who, e.Reason, int32(e.Reason))
}

var (
	// ErrConnTimeout: nobody answered within the connect timeout.
	ErrConnTimeout = errors.New("srt: connection timed out: no answer from the peer; check address, port and firewall (UDP)")
	// ErrPeerIdle: nothing was heard for the peer idle timeout.
	ErrPeerIdle = errors.New("srt: connection lost: nothing heard from the peer for the peer idle timeout")
	// ErrPeerShutdown: the peer closed the connection.
	ErrPeerShutdown = errors.New("srt: connection closed by the peer")
)
