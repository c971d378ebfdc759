// Package impair is a bad network in user space: a UDP relay that delays, loses,
// swaps, repeats and thins out datagrams by a seed, so that the same test meets
// the same trouble twice on the machine of anybody, without rights and without
// kernel modules.
//
// Lives here: the relay, its rules, and as much of the SRT header as it takes to
// tell one kind of packet from another.
// May import: the standard library. Never: srtcore, sidecar; the judge of a
// transport does not borrow its parser.
package impair

import "time"

// Config describes a relay. Callers send to the relay's address; it sends on to
// the Target and carries the answers back.
type Config struct {
	Listen string // address to listen on; empty: 127.0.0.1:0
	Target string // host:port of the listener behind the relay
	Seed   uint64 // of all dice; the same seed throws the same
	Up     Path   // from caller to Target
	Down   Path   // from Target to caller
	// MovePortAfter, if positive, is when the relay starts to send to the Target
	// from a new source port, as a NAT that forgot its mapping does.
	MovePortAfter time.Duration
}

// Path is what happens to datagrams in one direction, in this order: size cap,
// rules, loss, duplication, rate, delay, order.
type Path struct {
	MaxSize   int           // larger datagrams are dropped; 0: no limit
	Drop      []Rule        // drop by kind of SRT packet
	Loss      float64       // chance 0..1 of a loss on its own
	Burst     *Burst        // losses that come together
	Duplicate float64       // chance 0..1 of a second copy
	Delay     time.Duration // for every datagram
	Jitter    time.Duration // up to so much more, evenly spread
	InOrder   bool          // jitter does not overtake
	Reorder   float64       // chance 0..1 that a datagram trades places with the next
	Rate      *Rate         // bottleneck
}

// Burst is the loss model of Gilbert and Elliott: two states, good and bad, each
// with its own chance of loss.
type Burst struct {
	ToBad, ToGood     float64 // chance 0..1 per datagram to change the state
	LossGood, LossBad float64 // chance 0..1 of a loss in that state
}

// Rate is a bottleneck in bits per second. It shapes: datagrams wait in a queue
// of at most Queue; or, with Police, it drops what exceeds the rate by more than
// Queue bytes' worth of credit.
type Rate struct {
	Bits   int64
	Queue  int // bytes; 0: 64 KiB
	Police bool
}

// Rule drops datagrams of one kind: the first Skip pass, the next Count are
// dropped (0: all of them), the rest pass.
type Rule struct {
	Kind  Kind
	Skip  int
	Count int
}

// Stats counts what happened in one direction.
type Stats struct {
	In, Out              uint64 // datagrams
	InBytes, OutBytes    uint64
	Lost, Oversize       uint64
	Ruled, OverRate      uint64 // dropped by a Rule, by the Rate
	Swapped, Duplicated  uint64
	Kinds                [KindCount]uint64 // arrived, by kind
	WriteErrors, Clients uint64
}
