// Package wire is the packet format of SRT: a view or a parser for everything
// that comes in and an encoder for everything that goes out, one file a packet
// kind (draft-sharabayko-srt-01, section 3).
//
// Parsers check structure only; whether a value makes sense in the state of a
// connection is the engine's business. They never panic, keep views of what
// they were given instead of copies, and on the paths of every packet (data,
// ACK, NAK, ACKACK) allocate nothing.
//
// Lives here: bytes and their names. May import: seq, encoding/binary,
// net/netip, errors. Never: time, net, anything with state.
package wire

import "errors"

// ErrShort: the packet or the part of it ends before its fixed fields do.
var ErrShort = errors.New("wire: too short")

// ErrMalformed: the bytes contradict the format.
var ErrMalformed = errors.New("wire: malformed")

// SocketID names one end of a connection; 0 is nobody, the destination of a
// connection request.
type SocketID uint32

// Timestamp is the time stamp of a packet: microseconds since the sender's
// socket was opened, modulo 2^32 (71 min 35 s).
type Timestamp uint32
