package sim

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// LinkConfig says what one direction of a path does to datagrams. The zero
// value is a perfect link without delay.
type LinkConfig struct {
	Delay  time.Duration // one way
	Jitter time.Duration // added, uniform in [0, Jitter); later packets may overtake
	Loss   float64       // probability
	Burst  *Burst        // in addition to Loss

	Reorder   float64 // probability that a datagram is held back
	ReorderBy int     // ... until this many later ones have passed (default 1)

	Duplicate float64 // probability of a second copy

	Rate  int64 // bytes/s with IP and UDP headers; 0: infinite
	Queue int64 // bytes waiting for Rate; what does not fit is lost

	MaxSize int // largest UDP payload that passes; 0: any

	Drop  func(*Packet) bool          // asked first; true loses the datagram
	Extra func(*Packet) time.Duration // delay of this one on top of Delay
	Tap   func(*Packet, Fate)         // sees every datagram and what became of it
}

// Burst is a Gilbert-Elliott channel: in the good state nothing is lost, in the
// bad one LossBad of the datagrams.
type Burst struct {
	GoodToBad, BadToGood float64 // per datagram
	LossBad              float64
}

// Packet is a datagram on a link, as rules and taps see it.
type Packet struct {
	Data []byte    // the rule may change it
	Sent mono.Time // put on the link
	// Due is when it arrives; set for Tap, if it arrives.
	Due mono.Time
	// Attempt counts, from 1, how often this data sequence number, or this
	// control type, has been sent over the link.
	Attempt int
}

// Control returns the control type; ok is false for data.
func (p *Packet) Control() (t wire.ControlType, ok bool) {
	if !wire.IsControl(p.Data) {
		return 0, false
	}
	h, _, err := wire.ParseControl(p.Data)
	return h.Type, err == nil
}

// IsData reports whether the datagram is a data packet.
func (p *Packet) IsData() bool { return len(p.Data) >= wire.HeaderSize && !wire.IsControl(p.Data) }

// Seq returns the sequence number of a data packet.
func (p *Packet) Seq() seq.Number { return wire.DataSeq(p.Data) }

// Handshake returns the handshake; ok is false for anything else.
func (p *Packet) Handshake() (hs wire.Handshake, ok bool) {
	if t, isControl := p.Control(); !isControl || t != wire.CtrlHandshake {
		return hs, false
	}
	hs, err := wire.ParseHandshake(p.Data[wire.HeaderSize:])
	return hs, err == nil
}

// Fate is what a link did with a datagram.
type Fate uint8

// The fates of a datagram.
const (
	Passed Fate = iota
	DroppedByRule
	Lost
	QueueFull
	TooBig
)

// Counts is what a link has seen.
type Counts struct {
	Packets, Bytes uint64 // offered; bytes of UDP payload
	Lost           uint64 // all reasons together
	LostData       map[seq.Number]int
}

// Link is one direction of a path. It is a machine without clock: datagrams and
// times in, datagrams and times out.
type Link struct {
	Config LinkConfig
	Counts Counts

	rnd      *rand.Rand
	bad      bool
	freeAt   mono.Time // when Rate has sent everything before
	queue    arrivals
	held     []held
	order    uint64
	attempts map[uint64]int
}

type held struct {
	data  []byte
	left  int       // later datagrams still to pass
	until mono.Time // goes on anyway: nothing may follow
}

// holdLimit frees a held datagram that nothing follows.
const holdLimit = 100 * time.Millisecond

func newLink(cfg LinkConfig, rnd *rand.Rand) *Link {
	return &Link{
		Config: cfg, rnd: rnd, attempts: make(map[uint64]int),
		Counts: Counts{LostData: make(map[seq.Number]int)},
	}
}

// send puts a datagram on the link; the link copies it.
func (l *Link) send(now mono.Time, data []byte) {
	p := &Packet{Data: append([]byte(nil), data...), Sent: now}
	p.Attempt = l.countAttempt(p)
	l.Counts.Packets++
	l.Counts.Bytes += uint64(len(data))
	fate := l.fate(now, p)
	if fate == Passed {
		l.forward(now, p)
	} else {
		l.Counts.Lost++
		if p.IsData() {
			l.Counts.LostData[p.Seq()]++
		}
	}
	if l.Config.Tap != nil {
		l.Config.Tap(p, fate)
	}
}

func (l *Link) countAttempt(p *Packet) int {
	var key uint64
	if t, ok := p.Control(); ok {
		key = 1<<40 | uint64(t)
	} else if p.IsData() {
		key = uint64(p.Seq())
	}
	l.attempts[key]++
	return l.attempts[key]
}

func (l *Link) fate(now mono.Time, p *Packet) Fate {
	c := &l.Config
	switch {
	case c.Drop != nil && c.Drop(p):
		return DroppedByRule
	case c.MaxSize > 0 && len(p.Data) > c.MaxSize:
		return TooBig
	case c.Loss > 0 && l.rnd.Float64() < c.Loss, l.burstLoss():
		return Lost
	case !l.queueFits(now, p):
		return QueueFull
	}
	return Passed
}

func (l *Link) burstLoss() bool {
	b := l.Config.Burst
	if b == nil {
		return false
	}
	if l.bad {
		l.bad = l.rnd.Float64() >= b.BadToGood
	} else {
		l.bad = l.rnd.Float64() < b.GoodToBad
	}
	return l.bad && l.rnd.Float64() < b.LossBad
}

// udpOverhead is what IPv4 and UDP add to a datagram on a rated link.
const udpOverhead = 28

func (l *Link) queueFits(now mono.Time, p *Packet) bool {
	if l.Config.Rate <= 0 {
		return true
	}
	if l.freeAt < now {
		l.freeAt = now
	}
	waiting := int64(l.freeAt.Sub(now)) * l.Config.Rate / int64(time.Second)
	size := int64(len(p.Data) + udpOverhead)
	if waiting+size > max(l.Config.Queue, size) {
		return false
	}
	l.freeAt = l.freeAt.Add(time.Duration(size * int64(time.Second) / l.Config.Rate))
	return true
}

// forward sets the time of arrival, or holds the datagram back.
func (l *Link) forward(now mono.Time, p *Packet) {
	c := &l.Config
	if c.Reorder > 0 && l.rnd.Float64() < c.Reorder {
		l.held = append(l.held, held{p.Data, max(c.ReorderBy, 1), now.Add(holdLimit)})
		return
	}
	p.Due = l.due(now, p)
	l.arriveAt(p.Due, p.Data)
	if c.Duplicate > 0 && l.rnd.Float64() < c.Duplicate {
		l.arriveAt(l.due(now, p), append([]byte(nil), p.Data...))
	}
	l.releaseHeld(p.Due)
}

func (l *Link) due(now mono.Time, p *Packet) mono.Time {
	c := &l.Config
	at := now
	if c.Rate > 0 {
		at = l.freeAt
	}
	at = at.Add(c.Delay)
	if c.Jitter > 0 {
		at = at.Add(time.Duration(l.rnd.Int64N(int64(c.Jitter))))
	}
	if c.Extra != nil {
		at = at.Add(c.Extra(p))
	}
	return at
}

// releaseHeld counts a datagram that passed by and lets those go that have
// waited for it; they arrive right behind it.
func (l *Link) releaseHeld(at mono.Time) {
	keep := l.held[:0]
	for _, h := range l.held {
		if h.left--; h.left > 0 {
			keep = append(keep, h)
			continue
		}
		l.arriveAt(at, h.data)
	}
	l.held = keep
}

func (l *Link) arriveAt(at mono.Time, data []byte) {
	l.order++
	heap.Push(&l.queue, inFlight{at, l.order, data})
}

// next returns when the link has something to hand out.
func (l *Link) next() mono.Time {
	at := mono.Never
	if len(l.queue) > 0 {
		at = l.queue[0].at
	}
	for _, h := range l.held {
		at = mono.Min(at, h.until)
	}
	return at
}

// receive returns a datagram that has arrived by now, or nil.
func (l *Link) receive(now mono.Time) []byte {
	for i, h := range l.held {
		if h.until <= now {
			l.held = append(l.held[:i], l.held[i+1:]...)
			return h.data
		}
	}
	if len(l.queue) == 0 || l.queue[0].at > now {
		return nil
	}
	return heap.Pop(&l.queue).(inFlight).data
}

// arrivals is a heap by time, then by order of sending.
type arrivals []inFlight

type inFlight struct {
	at    mono.Time
	order uint64
	data  []byte
}

func (a arrivals) Len() int { return len(a) }
func (a arrivals) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].order < a[j].order
}
func (a arrivals) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *arrivals) Push(x any)   { *a = append(*a, x.(inFlight)) }
func (a *arrivals) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}
