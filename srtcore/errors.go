package srtcore

import (
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/weirline/weirline/srtcore/wire"
)

// Sentinel errors. Compare with errors.Is: operations wrap them in a
// *net.OpError or add context.
var (
	// ErrClosed is returned by calls on a Conn, Listener or Runtime that this
	// side has closed. errors.Is(ErrClosed, net.ErrClosed) is true.
	ErrClosed error = &sentinel{text: "srt: use of a closed connection", is: net.ErrClosed}

	// ErrTimeout is returned when a deadline set with SetDeadline and its
	// relatives has passed. It is a net.Error whose Timeout is true, and
	// errors.Is(ErrTimeout, os.ErrDeadlineExceeded) is true.
	ErrTimeout error = &sentinel{text: "srt: deadline exceeded", is: os.ErrDeadlineExceeded, timeout: true}

	// ErrAgain is returned by calls that never block, such as Conn.TryWrite,
	// when there is no room now. Nothing was taken; try again later.
	ErrAgain error = &sentinel{text: "srt: no room now, try again", temporary: true}

	// ErrConnTimeout is returned by Dial when the peer gave no complete answer
	// within Config.ConnTimeout. Its Timeout is true.
	ErrConnTimeout error = &sentinel{text: "srt: no answer from the peer within the connect timeout", timeout: true}

	// ErrPeerIdle ends a connection whose peer was silent for
	// Config.PeerIdleTimeout: it crashed, or the network between broke.
	ErrPeerIdle error = &sentinel{text: "srt: peer silent for longer than the peer idle timeout", timeout: true}

	// ErrPeerClosed ends the writing side of a connection whose peer sent
	// SHUTDOWN (draft section 3.2.7). Readers get io.EOF instead, once all that
	// arrived before was read.
	ErrPeerClosed error = &sentinel{text: "srt: the peer closed the connection"}
)

// sentinel is the type behind the Err variables. It is a net.Error.
type sentinel struct {
	text               string
	is                 error
	timeout, temporary bool
}

func (e *sentinel) Error() string        { return e.text }
func (e *sentinel) Timeout() bool        { return e.timeout }
func (e *sentinel) Temporary() bool      { return e.temporary }
func (e *sentinel) Is(target error) bool { return e.is != nil && target == e.is }

// RejectReason is why a handshake was refused, as the number on the wire: 1000
// and up are the protocol's own reasons, 2000 and up the predefined reasons an
// application gives, 3000 and up are free for users. Its String is a short name.
type RejectReason = wire.RejectReason

// The protocol's own reasons.
const (
	RejUnknown    = wire.RejUnknown    // no reason given
	RejSystem     = wire.RejSystem     // a system call failed
	RejPeer       = wire.RejPeer       // the peer refused without saying why
	RejResource   = wire.RejResource   // out of memory or sockets
	RejRogue      = wire.RejRogue      // the handshake was malformed
	RejBacklog    = wire.RejBacklog    // the listener's backlog is full
	RejInternal   = wire.RejInternal   // a fault inside the program
	RejClose      = wire.RejClose      // the listener is closing
	RejVersion    = wire.RejVersion    // the peer is older than MinVersion
	RejRdvCookie  = wire.RejRdvCookie  // rendezvous cookies collided
	RejBadSecret  = wire.RejBadSecret  // the passphrases differ
	RejUnsecure   = wire.RejUnsecure   // only one side has a passphrase
	RejMessageAPI = wire.RejMessageAPI // stream API against message API
	RejCongestion = wire.RejCongestion // different congestion control (live, file)
	RejFilter     = wire.RejFilter     // the packet filters do not agree
	RejGroup      = wire.RejGroup      // the group settings do not agree
	RejTimeout    = wire.RejTimeout    // the connection timed out; never on the wire
	RejCryptoMode = wire.RejCryptoMode // the cipher modes do not agree
)

// The predefined application reasons, for a RejectError from Config.OnRequest.
// From 2400 on the last three digits follow HTTP status codes.
const (
	RejPredefined          = wire.RejPredefined      // refused without a reason
	RejKeyNotSupported     = wire.RejKeyNotSupported // a key of the stream id is not supported
	RejFilePath            = wire.RejFilePath        // the resource name is no valid path
	RejHostNotFound        = wire.RejHostNotFound    // the host of the stream id is not served
	RejBadRequest          = wire.RejBadRequest
	RejUnauthorized        = wire.RejUnauthorized
	RejOverload            = wire.RejOverload
	RejForbidden           = wire.RejForbidden
	RejNotFound            = wire.RejNotFound
	RejBadMode             = wire.RejBadMode // the mode of the stream id is not served
	RejUnacceptable        = wire.RejUnacceptable
	RejConflict            = wire.RejConflict // the resource is in use
	RejUnsupportedMedia    = wire.RejUnsupportedMedia
	RejLocked              = wire.RejLocked
	RejFailedDependency    = wire.RejFailedDependency
	RejServerError         = wire.RejServerError
	RejUnimplemented       = wire.RejUnimplemented
	RejGateway             = wire.RejGateway
	RejDown                = wire.RejDown
	RejVersionNotSupported = wire.RejVersionNotSupported
	RejNoRoom              = wire.RejNoRoom
)

// RejUser is the first of the thousand codes that mean what two applications
// agree on.
const RejUser = wire.RejUser

// RejectError says that a handshake was refused. Config.OnRequest returns one to
// refuse a caller with a chosen code; Dial returns one when it was refused.
type RejectError struct {
	Reason RejectReason
	Remote bool // the peer refused; false: this side did
}

func (e *RejectError) Error() string {
	by := "by this side"
	if e.Remote {
		by = "by the peer"
	}
	return fmt.Sprintf("srt: connection rejected %s: %s (%d)", by, e.Reason, int32(e.Reason))
}

// Is reports whether target is a *RejectError with the same Reason, so that
// errors.Is(err, &RejectError{Reason: RejBadSecret}) works for either side.
func (e *RejectError) Is(target error) bool {
	t, ok := target.(*RejectError)
	return ok && t.Reason == e.Reason
}

// PeerError says that the peer sent a Peer Error control packet (draft section
// 3.2.10): it could not process what it received.
type PeerError struct {
	Code uint32
}

func (e *PeerError) Error() string {
	return fmt.Sprintf("srt: the peer reports error %d", e.Code)
}

// MessageSizeError refuses a message longer than one packet carries. The whole
// message was refused; nothing was sent.
type MessageSizeError struct {
	Size int // bytes in the message
	Max  int // Conn.MaxPayload
}

func (e *MessageSizeError) Error() string {
	return fmt.Sprintf("srt: message of %d bytes is longer than the limit of %d bytes", e.Size, e.Max)
}

// OptionError refuses the value of an option, in a Config, a URL or a
// configuration file. Value never holds a passphrase.
type OptionError struct {
	Option  string // the key as it was given, or the option's own name
	Value   string // the refused value with its unit; empty: none, or secret
	Allowed string // what would be accepted; empty: nothing would
	Problem string // what is wrong: "is unknown", "is out of range", ...
}

func (e *OptionError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "option %q", e.Option)
	if e.Value != "" {
		b.WriteString(" = " + e.Value)
	}
	problem := e.Problem
	if problem == "" {
		problem = "is refused"
	}
	b.WriteString(" " + problem)
	if e.Allowed != "" {
		b.WriteString(": allowed " + e.Allowed)
	}
	return b.String()
}
