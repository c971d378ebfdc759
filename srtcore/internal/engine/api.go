// Package engine is the sans-IO core of SRT: Endpoint is what happens on one
// UDP port, Conn is one connection. Both are handed datagrams and the time, and
// hand back datagrams, events and the next deadline.
//
// Lives here: every mechanism of the protocol, one file each.
// May import: seq, wire, crypt, mono, dgram. Never: net, os, sync, x/sys, udp,
// loop, log, math/rand, time.Now, a go statement.
//
// The grammar, for the loop that drives it:
//
//	getters      read state, may be called at any time
//	Handle*      something arrived or time passed; now comes first
//	commands     Send, Close, Abort, Accept, Reject, Dial, Listen, StopListening
//	Poll*        ask for output, in the order PollTransmit, PollMessages,
//	             PollEvent, PollTimeout
//
// Any number of Handles and commands may share one now; all output is drained
// before a later now is handed in.
package engine

import (
	"io"
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/internal/crypt"
	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// Config is what one side of a connection wants, already validated. Zero values
// mean zero, not a default; DefaultConfig gives the defaults.
type Config struct {
	RcvLatency  time.Duration // own receiver delay
	PeerLatency time.Duration // least delay wished for the peer's receiver
	StreamID    string
	Passphrase  string
	Secret      *Secret // caller: made in advance with Passphrase; nil: when needed
	PBKeyLen    int     // 0 (unset), 16, 24 or 32
	EnforcedEnc bool
	KMRefresh   int // packets
	KMPreAnn    int // packets

	ConnTimeout time.Duration
	PeerIdle    time.Duration
	Linger      time.Duration // upper bound of closing beyond the latency

	MSS         int // bytes, with 28 of IP and UDP header
	FlowWindow  int // packets
	RcvBufPkts  int
	SndBufPkts  int
	PayloadSize int // bytes, largest message sent; 0: whatever fits

	MaxBW      int64 // bytes/s; -1 unlimited (1 Gbit/s), 0 by input rate
	InputBW    int64 // bytes/s; 0 measured
	MinInputBW int64 // bytes/s
	OverheadBW int   // percent

	LossMaxTTL     int // packets
	TSBPD          bool
	TLPktDrop      bool
	PlayGrid       time.Duration // 0: none
	NAKReport      bool
	SndDropDelay   time.Duration // negative: the sender never drops
	DriftTracer    bool
	RetransmitAlgo int
	MinVersion     uint32
	Records        int // of the flight recorder; 0: none

	// Test hooks; zero in production.
	InitSeq       seq.Number // with ForceInitSeq
	ForceInitSeq  bool
	TimestampBase wire.Timestamp // added to every own time stamp
}

// DefaultConfig returns libsrt's live-mode defaults.
func DefaultConfig() Config {
	return Config{
		RcvLatency: 120 * time.Millisecond, EnforcedEnc: true,
		KMRefresh: 1 << 24, KMPreAnn: 1 << 12,
		ConnTimeout: 3 * time.Second, PeerIdle: 5 * time.Second, Linger: time.Second,
		MSS: 1500, FlowWindow: 25600, RcvBufPkts: 8192, SndBufPkts: 8192,
		MaxBW: -1, OverheadBW: 25,
		TSBPD: true, TLPktDrop: true, NAKReport: true, DriftTracer: true, RetransmitAlgo: 1,
		MinVersion: 0x010000,
	}
}

// EndpointConfig is what an Endpoint needs from outside.
type EndpointConfig struct {
	Rand  io.Reader // entropy: socket ids, sequence numbers, cookies, keys
	Cache *dgram.Cache
}

// EventKind says what an Event is about.
type EventKind uint8

const (
	// EventConnected: a dialled connection is established.
	EventConnected EventKind = iota + 1
	// EventClosed: the connection has ended and takes no more part; Err says
	// why (nil: closed by this side). All messages were polled before it.
	EventClosed
	// EventRequest: a caller's conclusion waits for Accept or Reject.
	EventRequest
	// EventPeerShutdown: the peer said SHUTDOWN; buffered messages still come.
	EventPeerShutdown
)

// Event is something the world outside wants to know.
type Event struct {
	Kind    EventKind
	Err     error
	Request *Request
}

// Request is a caller that asks a listening Endpoint for a connection.
type Request struct {
	Peer        netip.AddrPort
	Local       netip.Addr // address that was called; invalid if unknown
	SocketID    wire.SocketID
	StreamID    string
	PeerVersion uint32
	Encrypted   bool // the caller sent key material
	PeerKeyLen  int  // of that key material, bytes

	hs   wire.Handshake
	exts helloExts
	at   mono.Time // arrival of the conclusion: the TSBPD time base
	ts   wire.Timestamp
	done bool

	// Derived by Prepare, with the passphrase they belong to.
	kek        []byte
	passphrase string
}

// Prepare derives the key-encryption key, which is the dear part of accepting an
// encrypted caller. It touches nothing but the Request, so it may run elsewhere
// than the Endpoint, before Accept.
func (r *Request) Prepare(passphrase string) {
	m, err := wire.ParseKeyMaterial(r.exts.km)
	if err != nil || passphrase == "" || r.kek != nil && r.passphrase == passphrase {
		return
	}
	r.kek, r.passphrase = crypt.DeriveKEK(passphrase, m.Salt, m.KeyLen), passphrase
}

// keyFor returns the prepared key, or derives it now.
func (r *Request) keyFor(passphrase string) []byte {
	r.Prepare(passphrase)
	return r.kek
}

// Check names what Accept would refuse the caller's key material for, or 0. The
// key it derives is Prepare's, and it may run where Prepare may.
func (r *Request) Check(passphrase string) wire.RejectReason {
	m, err := wire.ParseKeyMaterial(r.exts.km)
	switch {
	case err != nil:
		return wire.RejRogue
	case m.Cipher != wire.CipherAESCTR || m.Auth != wire.AuthNone:
		return wire.RejCryptoMode
	case passphrase == "":
		return wire.RejUnsecure
	}
	if _, err := crypt.UnwrapKeys(r.keyFor(passphrase), m.Wrapped); err != nil {
		return wire.RejBadSecret
	}
	return 0
}

// Message is one received message.
type Message struct {
	Buf *dgram.Buf // the receiver of the Message owns it; Payload() is the message
	Seq seq.Number
	// Source is when the peer's application handed the message in, on the
	// local clock (play time less latency).
	Source mono.Time
}
