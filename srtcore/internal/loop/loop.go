// Package loop drives the engine: one goroutine a shard that owns a few UDP
// sockets and every connection on them, reads and writes datagrams in batches,
// reads the clock once a wake-up and keeps one heap of deadlines. Around it
// stand the queues through which the rest of the program reaches a connection.
//
// Lives here: Group (the shards), Loop, its pollers, sockets, Conn with inbox
// and outbox, Listener, ReadySet, and Go, the only go statement under srtcore.
// May import: engine, wire, seq, udp, dgram, mono, net/netip, x/sys. Never: net,
// the public package; what blocks an application stands there.
//
// # How a loop waits
//
// While data flows densely a loop is active: it wakes on a grid of one tick, a
// millisecond, looks neither at readability nor at writers' calls in between, and
// does all work of the tick at once. That bounds the wake-ups whatever the number
// of connections and makes full batches. A few ticks after the last packet it
// turns idle: it wakes for a readable socket, a command, a written message, or the
// next deadline but a tick at the soonest, and not at all without one of these.
package loop

import (
	"runtime"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// DefaultTick is about the least time between two wake-ups of an active loop,
// whatever is due: see pace.
const DefaultTick = time.Millisecond

// A loop begins to tick when traffic comes in two wake-ups closer than
// denseTicks, and goes on for activeTicks after the last: a stream of a few
// hundred packets a second or less costs a wake-up a packet, not a tick.
const (
	denseTicks  = 2
	activeTicks = 3
)

// readBatch is the number of datagrams asked of a socket at once, and turnLimit
// the number taken from one socket before the next has its turn.
const (
	readBatch = 256
	turnLimit = 512
)

// Loop is one shard. Everything but the mailbox belongs to its goroutine.
type Loop struct {
	cfg   Config
	poll  poller
	pool  *dgram.Pool
	cache *dgram.Cache

	tick        mono.Time
	pace        pace
	now         mono.Time // of this wake-up
	greeted     bool      // a handshake came in this turn
	lastTraffic mono.Time
	activeUntil mono.Time
	sockets     []*socket
	turns       int // rotates which socket is first
	shared      map[SocketKey]*socket
	due         deadlines

	// Scratch space of a turn.
	in       []dgram.In
	messages []engine.Message
	parcels  []parcel
	wakes    []*Conn     // readers to wake at its end
	marked   []*ReadySet // ready sets to wake at its end
	grouping grouping

	mail     mailbox
	commands []func()
	ready    []*Conn
	quit     bool
	done     chan struct{}
	pumps    sync.WaitGroup
}

func newLoop(cfg Config, pool *dgram.Pool) (*Loop, error) {
	p, err := newPoller(cfg.Portable)
	if err != nil {
		return nil, err
	}
	return &Loop{
		cfg: cfg, tick: mono.Time(cfg.Tick), pace: newPace(mono.Time(cfg.Tick)), poll: p, pool: pool, cache: dgram.NewCache(pool), now: Now(),
		shared:   make(map[SocketKey]*socket),
		in:       make([]dgram.In, readBatch),
		messages: make([]engine.Message, 0, deliverBatch),
		parcels:  make([]parcel, 0, sendBatch),
		done:     make(chan struct{}),
	}, nil
}

// run is the life of the loop.
func (l *Loop) run() {
	defer close(l.done)
	for {
		more := l.turn()
		if l.quit {
			break
		}
		l.next(more)
	}
	l.shutdown()
}

// next lets the time of the next turn come.
func (l *Loop) next(more bool) {
	if !more {
		l.wait()
		return
	}
	runtime.Gosched() // others may run, but the loop does not wait
	l.now = Now()
}

// wait sleeps until there is something to do and sets the time of the wake-up.
func (l *Loop) wait() {
	idle := false
	switch {
	case l.now < l.activeUntil:
		until, collect := l.pace.next(l.now, l.due.first())
		l.mail.tick(collect)
		l.now = l.poll.waitTick(until)
	case l.mail.sleep():
		idle = true
		l.now = l.poll.waitIdle(max(l.due.first(), l.pace.allowed()))
	default:
		l.now = Now()
		return
	}
	l.pace.woke(l.now, idle)
}

// traffic says that media moves at this wake-up.
func (l *Loop) traffic() {
	if l.lastTraffic == l.now {
		return
	}
	if l.now < l.activeUntil || l.now-l.lastTraffic < denseTicks*l.tick {
		l.keepTicking()
	}
	l.lastTraffic = l.now
}

// keepTicking makes the loop active.
func (l *Loop) keepTicking() {
	l.activeUntil = l.now + mono.Time(l.pace.hold+activeTicks)*l.tick
}

// retrySoon is for what the system had no room for.
func (l *Loop) retrySoon() {
	l.pace.hurry()
	l.keepTicking()
}

// shutdown ends what is left: SHUTDOWN to every peer, then everything closed.
func (l *Loop) shutdown() {
	commands, ready := l.mail.close(l.commands[:0], l.ready[:0])
	for _, f := range commands {
		f()
	}
	l.ready = ready
	l.takeAnnounced()
	for _, s := range l.sockets {
		s.endAll()
	}
	l.drain()
	l.notify()
	for _, s := range l.sockets {
		l.close(s)
	}
	l.cache.Flush()
	l.poll.close()
	l.pumps.Wait()
}
